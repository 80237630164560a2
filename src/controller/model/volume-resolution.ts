import type { Claim } from "./storage-objects.ts";
import type { WaitReason } from "./wait-reason.ts";

/** Why it is not known which volume is meant, or why it cannot be used. */
export interface UnresolvedVolume {
  readonly waiting: WaitReason;
  /** The claim waits for somebody to choose its node. */
  readonly needsNode?: Claim;
}
