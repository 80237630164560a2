/** How often each key is there, of things with one or with many. Pure. */
export function countBy<T>(items: Iterable<T>, keyOf: (item: T) => string): Map<string, number> {
  return countAll(items, (item) => [keyOf(item)]);
}

/** @param keysOf of one of them, none twice */
export function countAll<T>(items: Iterable<T>, keysOf: (item: T) => string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) {
    for (const key of keysOf(item)) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}
