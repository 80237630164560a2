import { intentPrefix } from "../api/intent-name.ts";

/** The node that everything is for: what the rules call its own. */
export interface Own {
  readonly nodeName: string;
  /** What the names of its intents begin with. */
  readonly intentPrefix: string;
}

/** The names of a node's objects: its agent may read and write these. */
export function ownOf(nodeName: string): Own {
  return { nodeName, intentPrefix: intentPrefix(nodeName) };
}
