/** How often a state was reached: a law that passes because its case never occurs is none. */
export function counter() {
  const counts = new Map<string, number>();
  return {
    count: (what: string, times = 1) => counts.set(what, (counts.get(what) ?? 0) + times),
    of: (what: string) => counts.get(what) ?? 0,
    toString: () => [...counts].map(([what, n]) => `${what} ${n}`).join(", "),
  };
}
