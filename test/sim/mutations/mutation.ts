import type { CrashPoint } from "../faults.ts";

/** One text of a file, which it has exactly once, replaced by another. */
export interface Edit {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** A run that noticed something. */
export interface Hint {
  readonly scenario: string;
  readonly seed?: number;
  readonly stormy?: boolean;
  readonly crash?: CrashPoint;
}

/** What was noticed, after how many runs, and in which. */
export interface Sighting {
  readonly what: string;
  readonly runs?: number;
  readonly hint?: Hint;
}

/** A way to break the product. */
export interface Mutation extends Edit {
  /** The law that it breaks, "journal before effect", or the rule that it is about. */
  readonly law: string;
  readonly name: string;
  /** The second line of defence, where there is one: of the product, or of the part of the host that stands for one. */
  readonly also?: Edit;
  /** A run in fair weather that notices it, with what ends its processes: it is tried at every push. */
  readonly noticedBy?: Hint;
}
