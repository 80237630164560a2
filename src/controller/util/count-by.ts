/** How often each key is there, of things with one or with many. Pure. */
export function countBy<T, K extends string>(items: Iterable<T>, keyOf: (item: T) => K): Map<K, number> {
  return countAll(items, (item) => [keyOf(item)]);
}

/** @param keysOf of one of them, none twice */
export function countAll<T, K extends string>(items: Iterable<T>, keysOf: (item: T) => K[]): Map<K, number> {
  const counts = new Map<K, number>();
  for (const item of items) {
    for (const key of keysOf(item)) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}
