import { shortDigest } from "./digest.ts";

/** 253 for an object's name, less the volume's, its hash and the two separators. */
const longestNodePart = 200;

/** PURE. What the name of each intent of a node begins with. */
export function intentPrefix(nodeName: string): string {
  return `${shortened(nodeName, longestNodePart)}.`;
}

/**
 * PURE. What follows that: the volume's name, which has no dots, and its hash. Node `a` has no intent of node `a.b`.
 */
export const intentRest = /^[a-z0-9][-a-z0-9]{0,39}-[0-9a-f]{10}$/;

/** PURE. A name, or its beginning and its digest if it is longer. */
export function shortened(name: string, longest: number): string {
  if (name.length <= longest) return name;
  return `${name.slice(0, longest - 11).replace(/[^a-z0-9]+$/, "")}-${shortDigest(name)}`;
}
