/** Runs `act` for each, so many at a time. Rejects with the first failure, when what is under way has ended. */
export async function atMost<T>(many: number, all: Iterable<T>, act: (one: T) => Promise<void>): Promise<void> {
  const rest = all[Symbol.iterator]();
  const failures: unknown[] = [];
  async function work(): Promise<void> {
    for (let next = rest.next(); !next.done && failures.length === 0; next = rest.next()) {
      try {
        await act(next.value);
      } catch (error) {
        failures.push(error);
      }
    }
  }
  await Promise.all(Array.from({ length: many }, work));
  if (failures.length > 0) throw failures[0];
}
