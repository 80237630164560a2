import type { JsonObject } from "./json.ts";
import { isRecord } from "./json.ts";
import { sameJson } from "./same-json.ts";

/**
 * The JSON merge patch (RFC 7386) that turns `before` into `after`: removed members become null, arrays are replaced as
 * a whole. undefined if there is nothing to change. Members whose value is undefined count as absent.
 */
export function mergeDiff(before: object, after: object): JsonObject | undefined {
  const [old, wanted] = [before as JsonObject, after as JsonObject];
  const patch: { [key: string]: unknown } = {};
  for (const key in old) if (old[key] !== undefined && wanted[key] === undefined) patch[key] = null;
  for (const key in wanted) {
    const [was, is] = [old[key], wanted[key]];
    if (is === undefined || is === was) continue;
    if (isRecord(was) && isRecord(is)) {
      const inner = mergeDiff(was, is);
      if (inner !== undefined) patch[key] = inner;
    } else if (!sameJson(was, is)) patch[key] = is;
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}
