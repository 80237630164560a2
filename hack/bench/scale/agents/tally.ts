import type { NodeVolumeIntent } from "../../../../src/api/types.gen.ts";

/** Where all agents of a process count. */
export interface Tally {
  /** The agent has read this generation of an intent. */
  saw(intent: NodeVolumeIntent): void;
  /** A status was written. */
  said(state: string): void;
  /** A watch was opened again, and why. */
  restarted(why: string): void;
  /** A request or a watch was refused, or not answered. */
  failed(what: string): void;
  /** A watch that was asked for and not answered yet: +1 and -1. */
  opening(change: 1 | -1): void;
}
