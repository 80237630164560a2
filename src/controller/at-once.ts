/**
 * Runs all of them, so many at the same time at most, in their order. After the first that fails none is begun; those that
 * run come to their end.
 * @throws what the first of them threw
 */
export async function atOnce<T>(most: number, items: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
  const left = items.values();
  const errors: unknown[] = [];
  const work = async (): Promise<void> => {
    for (const item of left) {
      try {
        await run(item);
      } catch (error) {
        errors.push(error);
      }
      if (errors.length > 0) return;
    }
  };
  await Promise.all(Array.from({ length: most }, work));
  if (errors.length > 0) throw errors[0];
}
