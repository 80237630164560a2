type Json = { readonly [key: string]: unknown };

/**
 * The JSON merge patch (RFC 7386) that turns `before` into `after`: removed members become null, arrays are replaced as
 * a whole. undefined if there is nothing to change. Members whose value is undefined count as absent.
 */
export function mergeDiff(before: object, after: object): Json | undefined {
  const [old, wanted] = [before as Json, after as Json];
  const patch: { [key: string]: unknown } = {};
  for (const key of new Set([...Object.keys(old), ...Object.keys(wanted)])) {
    const was = old[key];
    const is = wanted[key];
    if (is === undefined) {
      if (was !== undefined) patch[key] = null;
    } else if (isObject(was) && isObject(is)) {
      const inner = mergeDiff(was, is);
      if (inner !== undefined) patch[key] = inner;
    } else if (!equal(was, is)) patch[key] = is;
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}

function equal(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((entry, i) => equal(entry, b[i]));
  if (isObject(a) && isObject(b)) return mergeDiff(a, b) === undefined;
  return a === b;
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
