import { listed } from "../../api/values/listed.ts";

/** Names that a line shows. */
const mostNames = 3;
/** Different values that a line shows. */
const mostValues = 3;

/** PURE. `worker-1, worker-2, worker-3 and 4 more`. */
export function someOf(names: readonly string[]): string {
  return listed([...names].sort(), mostNames);
}

/** PURE. Things by a key, the key with the most of them first. */
export function groups<T>(items: readonly T[], keyOf: (item: T) => string): [key: string, items: readonly T[]][] {
  const found = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = found.get(key);
    if (group === undefined) found.set(key, [item]);
    else group.push(item);
  }
  return [...found].sort(([a, one], [b, other]) => other.length - one.length || (a < b ? -1 : 1));
}

/** PURE. `v1.36.3`, or `v1.36.3 (3), v1.35.0 (1)`, the most frequent first. */
export function frequencies(values: readonly string[]): string {
  const found = groups(values, (value) => value || "unknown");
  const [only] = found;
  if (only === undefined) return "none";
  if (found.length === 1) return only[0];
  return listed(
    found.map(([value, of]) => `${value} (${of.length})`),
    mostValues,
  );
}
