/** Keys that have another value in one map than in the other. */
export function differing(a: ReadonlyMap<string, unknown>, b: ReadonlyMap<string, unknown>): Set<string> {
  return new Set([...a.keys(), ...b.keys()].filter((key) => a.get(key) !== b.get(key)));
}
