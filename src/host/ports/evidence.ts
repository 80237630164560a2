import { VolumeError } from "../../errors.ts";
import type { MountIdentity } from "../mount-table/mount-table.ts";
import type { ChildProcessID } from "./types.ts";

/** Processes cannot be read, nor mount namespaces listed: which there are cannot be known, however often asked. */
export class NamespacesUnknown extends VolumeError {
  constructor(why: string, cause?: unknown) {
    super("StillReferenced", "transient", `the mounts of another process cannot be read: ${why}`, { cause });
  }
}

/** All processes can be read, but not a mount namespace that none of them is in. */
export class PinnedUnknown extends NamespacesUnknown {
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

  beside(holders: readonly Holder[]): PinnedUnknown {
    return new PinnedUnknown(this.#why, this.namespaces, holders);
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

/** Who holds a volume: a process that uses it, or one in whose mount namespace it is mounted. */
export interface Holder {
  /** Absent: no process that can be read is in the mount namespace. */
  readonly pid?: number;
  readonly command: string;
  /** The mount namespace that shows it, as /proc names it: `mnt:[4026532178]`. */
  readonly namespace?: string;
  /** The kernel's 64-bit id of that namespace, where it can be had (Linux 6.11). */
  readonly namespaceID?: string;
  /** Without a pid: processes that cannot be read, any of which may be in the namespace. */
  readonly unread?: readonly string[];
  /** Without a pid: what keeps the namespace, where that is known: `the file /run/kept`. */
  readonly kept?: string;
  /** The path that is held, or where the volume is mounted. */
  readonly mountPoint: string;
  /** Whether the mount is in the node's own mount namespace: no container's, and nobody's in particular. */
  readonly onNode?: boolean;
  /**
   * Whether the mount gets no word of unmounts elsewhere (neither shared nor slave): it stays when the node's own goes.
   */
  readonly private?: boolean;
  /** What it does with the path: `open file`, `working directory`, `mapped file`. */
  readonly use?: string;
  /** Id of the container that it is in, and UID of that container's pod, by its cgroup. */
  readonly container?: string;
  readonly pod?: string;
}

/**
 * So many processes are looked for that have one device open or use one mount: what is found has to go through a pipe.
 */
export const mostHolders = 32;

/** What keeps a mount that is no process: another mount, swap or a loop device on it. */
export interface Blocker {
  readonly kind: "Mount" | "Swap" | "LoopDevice";
  /** Mount point, or path of the file or device. */
  readonly name: string;
  /** For people: type and source of a mount, the file of a loop device. */
  readonly detail?: string;
}

/** PURE. Whether two are in one mount namespace. A later one may get the number in the name, but never the id. */
export function sameNamespace(a: InNamespace, b: InNamespace): boolean {
  if (a.namespace === undefined || a.namespace !== b.namespace) return false;
  return a.namespaceID === undefined || b.namespaceID === undefined || a.namespaceID === b.namespaceID;
}

/** The mount namespace that a process is in. */
export type InNamespace = Pick<Holder, "namespace" | "namespaceID">;

/** What kubelet, container runtimes and drivers leave behind. */
export interface Traces {
  /** UIDs of the pods that have a cgroup: kubelet makes it before anything of them runs. Undefined: no pod has one. */
  pods(): Promise<ReadonlySet<string> | undefined>;
  staleLoops(): Promise<readonly StaleLoop[]>;
  /** What kubelet wrote down beside the mount point before it had a driver stage a volume; undefined if unreadable. */
  stagedVolume(directory: string): Promise<StagedVolume | undefined>;
  /**
   * Processes in whose mount namespace `identity`, or anything beneath it, is mounted on any other path than one that
   * ends in `tail`, or without hearing of unmounts elsewhere: the first such mount of each namespace. Rejects if one
   * cannot be read.
   */
  shownApart(identity: MountIdentity, tail: string): Promise<readonly Holder[]>;
}

/** Of vol_data.json. Proves nothing by itself: whoever may write there has written it. */
export interface StagedVolume {
  readonly driver: string;
  readonly volumeHandle: string;
}

/** A loop device whose file was removed. */
export interface StaleLoop {
  readonly path: string;
  readonly deviceNumber: string;
  /** Where its file was. */
  readonly backing: string;
}
