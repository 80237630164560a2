import { VolumeError } from "../../../errors.ts";
import { isBeneath, type MountIdentity, sameFilesystem } from "../../mount-table/mount-table.ts";
import type { MountEntry } from "../../mount-table/mountinfo.ts";
import type { Vague } from "../syscall/statmount.ts";

/** A mount of any namespace. */
export type SeenMount = MountEntry & {
  /** What of it may be otherwise than it says. */
  readonly vague?: Vague;
};

/** What is looked for in the mounts of a namespace. */
export interface MountFilter {
  /** Says by its parent's id and its device whether a mount is to be understood at all. */
  wanted(parent: string, device: string): boolean;
  /** @returns true to end the reading */
  found(mount: SeenMount): boolean;
}

/** PURE. Whether a mount is of a file system; of one whose source is not known whether it may be. */
export function mayBeOf({ device, source, vague }: SeenMount, identity: MountIdentity): boolean {
  return sameFilesystem(vague?.source === true ? { device } : { device, source }, identity);
}

/** PURE. Whether a mount shows a volume, or a part of it; of one whose root or source is not known whether it may. */
export function mayShow(mount: SeenMount, identity: MountIdentity): boolean {
  return mayBeOf(mount, identity) && (mount.vague?.root === true || isBeneath(mount.root, identity.root));
}

/** What cannot be read is in use. */
export function unreadable(why: string, cause?: unknown): VolumeError {
  return new VolumeError("StillReferenced", "transient", `the mounts of another process cannot be read: ${why}`, {
    cause,
  });
}

/** How often all namespaces are gone through, until a time shows none that was not read yet. */
export const passes = 8;

/** PURE. The error of a proof over all mount namespaces that could not be completed: it is retried. */
export function newOnesComeTooFast(): VolumeError {
  return new VolumeError("StillReferenced", "transient", "new mount namespaces appear faster than they can be read");
}
