import type { MountPath } from "./identities.ts";
/** Files that are being given to a group, for long enough to be told of. */
export interface OwnershipChange {
  /** The target that waits for it. */
  readonly path: MountPath;
  readonly fsGroup: number;
  /** How many files were come to when it was told last. */
  readonly entries: number;
}
