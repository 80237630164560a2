import type { Reason } from "../../api/reasons.ts";

/**
 * A message that is not this project's own, or has no reason of it: how to know it again, and what it means for a
 * volume.
 */
export interface KnownMessage {
  /** Unique; it may stand at the end of an address. */
  readonly id: string;
  readonly title: string;
  /** Fits the message on one line, whatever the case. */
  readonly words: RegExp;
  readonly cause: string;
  /** With names in braces, as in next-steps.ts; so has `step`. */
  readonly check: string;
  readonly step: string;
  /** Whose entry in docs/reasons.md has more: the agent reports the same for volumes of sets. */
  readonly reason?: Reason;
  /** The code of explain for it, where it has one of its own (docs/kubectl-nvi.md); else that is `reason`. */
  readonly code?: string;
  /** Shows only that something has failed: any other match is closer to the cause. */
  readonly general?: true;
  /** Shows no more than the reason of kubelet's Event: who has the Event needs none of it. */
  readonly repeats?: true;
  /** Where the text comes from: a file of Kubernetes unless it names another project. */
  readonly source: string;
}
