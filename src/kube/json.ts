/** Reading of JSON that somebody else wrote: nothing here throws, and nothing is believed that is not there. */

export type JsonObject = { readonly [key: string]: unknown };

export function isRecord(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function asRecord(value: unknown): JsonObject | undefined {
  return isRecord(value) ? value : undefined;
}

export function stringIn(value: unknown, key: string): string | undefined {
  const member = isRecord(value) ? value[key] : undefined;
  return typeof member === "string" ? member : undefined;
}

export function numberIn(value: unknown, key: string): number | undefined {
  const member = isRecord(value) ? value[key] : undefined;
  return typeof member === "number" ? member : undefined;
}

export function recordIn(value: unknown, key: string): JsonObject | undefined {
  return asRecord(asRecord(value)?.[key]);
}

export function arrayIn(value: unknown, key: string): readonly unknown[] {
  const member = isRecord(value) ? value[key] : undefined;
  return Array.isArray(member) ? member : [];
}
