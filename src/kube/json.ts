/** Reading of JSON that somebody else wrote: nothing here throws, and nothing is believed that is not there. */

/** An object of JSON whose fields are not known yet. */
export type JsonObject = { readonly [key: string]: unknown };

/** PURE. Whether a value is an object of JSON: no array, and not null. */
export function isRecord(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** PURE. The value if it is an object of JSON; else undefined. */
export function asRecord(value: unknown): JsonObject | undefined {
  return isRecord(value) ? value : undefined;
}

/** PURE. A field if it is a string; else undefined. */
export function stringIn(value: unknown, key: string): string | undefined {
  const member = isRecord(value) ? value[key] : undefined;
  return typeof member === "string" ? member : undefined;
}

/** PURE. A field if it is a number; else undefined. */
export function numberIn(value: unknown, key: string): number | undefined {
  const member = isRecord(value) ? value[key] : undefined;
  return typeof member === "number" ? member : undefined;
}

/** PURE. A field if it is an object; else undefined. */
export function recordIn(value: unknown, key: string): JsonObject | undefined {
  return asRecord(asRecord(value)?.[key]);
}

/** PURE. A field if it is an array; else an empty one. */
export function arrayIn(value: unknown, key: string): readonly unknown[] {
  const member = isRecord(value) ? value[key] : undefined;
  return Array.isArray(member) ? member : [];
}

/** PURE. The members of a field that are strings; none if the field is no object. */
export function stringsIn(value: unknown, key: string): [string, string][] {
  return Object.entries(recordIn(value, key) ?? {}).filter((entry): entry is [string, string] => isString(entry[1]));
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}
