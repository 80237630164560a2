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
  let differs = false;
  const add = (key: string, change: unknown) => {
    patch[key] = change;
    differs = true;
  };
  for (const key in old) if (old[key] !== undefined && wanted[key] === undefined) add(key, null);
  for (const key in wanted) {
    const [was, is] = [old[key], wanted[key]];
    if (is === undefined || is === was) continue;
    if (isRecord(was) && isRecord(is)) {
      const inner = mergeDiff(was, is);
      if (inner !== undefined) add(key, inner);
    } else if (!sameJson(was, is)) add(key, is);
  }
  return differs ? patch : undefined;
}
