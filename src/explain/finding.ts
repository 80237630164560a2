/** A cause, or a part of the way that is done. The chain goes from what people see to what has to change. */
export interface Finding {
  /**
   * done: it is as it should be. waiting: it ends by itself or by somebody else's work. blocked: somebody must change
   * something.
   */
  readonly state: "done" | "waiting" | "blocked" | "unknown";
  /** A reason of docs/reasons.md, or one of explain's own (docs/kubectl-nvi.md). */
  readonly code: string;
  readonly text: string;
  /** Somebody else's words, as they are. */
  readonly quote?: string;
  readonly since?: string;
  readonly attempts?: number;
  readonly nextRetryTime?: string;
  /** What is waited for, or who has it. */
  readonly on?: { readonly kind: string; readonly namespace?: string; readonly name: string; readonly node?: string };
  /** It has nothing to do with the finding before it. */
  readonly also?: true;
  /** What to do; empty if there is nothing to do. */
  readonly todo?: string;
}

/** The causes of one volume's state, from the symptom to the remedy. */
export interface Chain {
  /** `volume data (claim data)`. */
  readonly title: string;
  readonly findings: readonly Finding[];
}

/** The whole answer of `kubectl nvi explain`. */
export interface Explanation {
  readonly subject: { readonly kind: string; readonly namespace?: string; readonly name: string };
  /** In one line, how it is. */
  readonly summary: string;
  readonly chains: readonly Chain[];
  /** What could not be read, which may be why something is missing above. */
  readonly notRead: readonly string[];
}
