import type { MountPath } from "./identities.ts";
/** Files that are being given to a group, for long enough to be told of. */
export interface OwnershipChange {
  /** The target that waits for it. */
  readonly path: MountPath;
  readonly fsGroup: number;
  /** Files that were processed when it was reported last. */
  readonly entries: number;
}
