import type { KubeObject } from "../../../src/api/meta.ts";

/** An object as the server keeps it. It is frozen: a change makes another one. */
export type StoredObject = KubeObject & { readonly [field: string]: unknown };

export type Json = { readonly [key: string]: unknown };

export function isJson(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** RFC 7386. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isJson(patch)) return patch;
  const before: Json = isJson(target) ? target : {};
  const merged: { [key: string]: unknown } = {};
  for (const key in before) if (patch[key] !== null) merged[key] = before[key];
  for (const key in patch) if (patch[key] !== null) merged[key] = mergePatch(before[key], patch[key]);
  return merged;
}

/** Whether two values are the same JSON, whatever the order of members. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, i) => sameJson(item, b[i]));
  if (!isJson(a) || !isJson(b)) return false;
  let more = 0;
  for (const _key in b) more++;
  for (const key in a) {
    if (a[key] !== b[key] && !sameJson(a[key], b[key])) return false;
    more--;
  }
  return more === 0;
}

/** Nobody who was handed the value can change what others see. */
export function frozen<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    if (Array.isArray(value)) value.forEach(frozen);
    else for (const key in value) if (typeof value[key] === "object") frozen(value[key]);
    Object.freeze(value);
  }
  return value;
}

/**
 * `value` as it comes out of the wire: a copy, without members that are undefined.
 * @throws RangeError for what JSON does not have: nobody here sends dates or numbers that are none
 */
export function overTheWire(value: unknown): unknown {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (Array.isArray(value)) return value.map((item) => (item === undefined ? null : overTheWire(item)));
  if (!isJson(value) || "toJSON" in value) throw new RangeError(`${value} in a body`);
  const sent: { [key: string]: unknown } = {};
  for (const key in value) {
    const member = value[key];
    if (member !== undefined) sent[key] = typeof member === "string" ? member : overTheWire(member);
  }
  return sent;
}

/** A member of a member; undefined if it is not there. */
export function at(value: unknown, ...path: string[]): unknown {
  return path.reduce((within, key) => (isJson(within) ? within[key] : undefined), value);
}
