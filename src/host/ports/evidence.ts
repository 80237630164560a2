import { VolumeError } from "../../errors.ts";
import type { MountIdentity } from "../mount-table/mount-table.ts";
import type { Blocker, Holder, InNamespace } from "./holder.ts";
import type { ChildProcessID } from "./types.ts";

/**
 * Processes cannot be read, and the kernel does not list mount namespaces: which there are is not to be known, however
 * often it is asked.
 */
export class NamespacesUnknown extends VolumeError {
  constructor(why: string, cause?: unknown) {
    super("StillReferenced", "transient", `the mounts of another process cannot be read: ${why}`, { cause });
  }
}

/** All processes can be read, but not a mount namespace that none of them is in. */
export class KeptUnknown extends NamespacesUnknown {
  readonly #why: string;
  /** What /proc calls those that cannot be read; undefined if one of them may be any. */
  readonly namespaces: readonly string[] | undefined;
  /** What those that can be read show of what was asked for. */
  readonly holders: readonly Holder[];

  constructor(why: string, namespaces?: readonly string[], holders: readonly Holder[] = []) {
    super(why);
    this.#why = why;
    this.namespaces = namespaces;
    this.holders = holders;
  }

  beside(holders: readonly Holder[]): KeptUnknown {
    return new KeptUnknown(this.#why, this.namespaces, holders);
  }
}

/** The kernel's evidence about users of mounts and devices. Nothing is cached. */
export interface Evidence {
  /**
   * Mounts of `identity`, or of anything beneath its root, in every mount namespace of the node (safety rule 6), the
   * first of each. Rejects if one cannot be read: what cannot be read is in use.
   */
  holders(identity: MountIdentity): Promise<readonly Holder[]>;
  /**
   * Mounts, whatever they show, that have this directory or file for a mount point, in every mount namespace of the
   * node. A removal of it would detach them, with what is open in them going on unseen.
   */
  mountedOn(place: MountIdentity): Promise<readonly Holder[]>;
  /** Who is in those of these mount namespaces that there still are. Rejects if that cannot be told. */
  members(namespaces: readonly InNamespace[]): Promise<readonly Omit<Holder, "mountPoint">[]>;
  /** Processes that keep a mount busy, for people. Best effort. */
  users(mountPoint: string): Promise<readonly Holder[]>;
  /** What the kernel itself has open beneath a mount point. Best effort. */
  kernelUsers(mountPoint: string): Promise<readonly Blocker[]>;
  /** Whether the kernel has a block device of this `major:minor`. */
  hasBlockDevice(deviceNumber: string): Promise<boolean>;
  /**
   * The kernel's own count of disks for a block device: another device that gets its `major:minor` has another.
   * Undefined if there is no such device, or the kernel does not count.
   */
  diskSequence(deviceNumber: string): Promise<string | undefined>;
  /** Whether the child with this pid and start time still exists. */
  alive(child: ChildProcessID): Promise<boolean>;
  /** /proc/sys/kernel/random/boot_id: mounts do not survive a change of it. */
  bootID(): Promise<string>;
}
