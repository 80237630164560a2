import { hash } from "node:crypto";
import { intentPrefix } from "../api/intent-name.ts";

/** The node that everything is for: what the rules call its own. */
export interface Own {
  readonly nodeName: string;
  /** What the names of its intents begin with. */
  readonly intentPrefix: string;
}

/** The names of a node's objects: its agent may read and write these. */
export function ownOf(nodeName: string): Own {
  const shortDigest = (text: string) => hash("sha256", text, "hex").slice(0, 10);
  return { nodeName, intentPrefix: intentPrefix(nodeName, shortDigest) };
}
