import type { ChildProcessID } from "../../host/ports/types.ts";

/**
 * What the agent sets out to remove of what kubelet has left, written down before it does: should it be killed
 * meanwhile, the next one knows who has unmounted that, and does not begin again while a child of this one is at it
 * (safety rule 8).
 */
export interface ReapRecord {
  readonly path: string;
  readonly kind: "PodMount" | "Staging";
  /** In the node's mount namespace. */
  readonly mountID: number;
  readonly uniqueID?: number;
  /** What was mounted, and what proved that nobody has it, for people. */
  readonly source: string;
  readonly proof: string;
  /** A process that was told to unmount it and was not seen to end. */
  readonly child?: ChildProcessID;
}
