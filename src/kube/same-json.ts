import { isRecord } from "./json.ts";

/**
 * Whether two values have the same JSON, whatever order their members are in; undefined members count as absent. Pure.
 */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((entry, i) => sameJson(entry, b[i]));
  }
  if (!isRecord(a) || !isRecord(b)) return false;
  for (const key in a) if (a[key] !== b[key] && !sameJson(a[key], b[key])) return false;
  for (const key in b) if (b[key] !== undefined && a[key] === undefined) return false;
  return true;
}
