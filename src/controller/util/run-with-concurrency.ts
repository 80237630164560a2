/**
 * Runs all of them, so many at the same time at most, in their order. After the first that fails none is begun; those
 * that run come to their end.
 * @param worst which of what several have thrown is thrown
 */
export async function runWithConcurrency<T>(
  most: number,
  items: readonly T[],
  run: (item: T) => Promise<void>,
  worst: (errors: readonly unknown[]) => unknown,
): Promise<void> {
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
  if (errors.length > 0) throw worst(errors);
}
