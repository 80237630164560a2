import type { Reason } from "../api/reasons.ts";
import type { MountIdentity } from "../host/mount-table.ts";
import type { ChildProcessID, MountAttributes } from "../host/ports/types.ts";
import type { DirectoryID } from "../host/ports.ts";
import type { Undo } from "../plugins/api/stage-context.ts";
import type { ChosenDisk } from "../plugins/disk-choice.ts";
import type { FoundSource, SourceType, StageKind } from "../plugins/plugin.ts";
import type { SaltedDigest } from "./content/salted-digest.ts";
import type { Calls, Moment } from "./csi/calls.ts";

/**
 * What the agent has written down of one volume: what it set out to do before it did it, and what it learned. Together
 * with the mount table it is the actual state of world. Only what stands here is ever unmounted or removed (law L6).
 */
export interface VolumeRecord {
  /** Name of the intent: what identifies the volume on this node. */
  readonly name: string;
  /** Hash of the name: the volume's own directories are named by it. */
  readonly key: string;
  readonly type: SourceType;
  /** The intent that was acted for last. */
  readonly uid: string;
  /** Highest generation of that intent that was acted for (safety rule 4). */
  readonly generation: number;
  readonly stage?: StageRecord;
  readonly targets: readonly TargetRecord[];
  /** A process that was told to do something for this volume and was not seen to end (safety rule 8). */
  readonly child?: ChildProcessID;
  /** Identity of the device on which mkfs was begun after it looked empty, and was not seen to end well. */
  readonly formatting?: string;
  /** The disk that the volume has, as it was chosen by what it is, or was found where the volume says. */
  readonly disk?: ChosenDisk;
  /** What that is called on every node, where others may reach it (diskName): status.disk. */
  readonly sharedDisk?: string;
  /** Names of the disks that were on the node when one was first looked for: no other is taken because it is empty. */
  readonly seenDisks?: readonly string[];
  /** Given up on purpose (deletionPolicy Retain): kept as it is, nobody is in charge. */
  readonly retained?: boolean;
  /** The intent was seen to be deleted, and its release has begun: it goes on even when the intent is gone. */
  readonly revoked?: boolean;
  /** Copies of pods' binds that went with their mount points: what is open there nothing shows any more. */
  readonly copies?: readonly DetachedCopy[];
}

/**
 * A pod's bind mount in another mount namespace that the kernel detached together with its mount point. No mount table
 * lists it, and files that are open on it still use the volume.
 */
export interface DetachedCopy {
  /**
   * The mount namespace that it was in, as /proc names it. Absent: whether there was a copy, and where, could not be
   * known.
   */
  readonly namespace?: string;
  /** The kernel's id of it, where it could be had. */
  readonly namespaceID?: string;
  /** The pod's mount point. */
  readonly path: string;
}

/**
 * The record of a staged volume. It is written before the first effect, with `ready: false`, and again after the last.
 */
export interface StageRecord {
  readonly kind: StageKind;
  /** What targets are bound from, as the agent sees it; also the mount point of a staged file system. */
  readonly path: string;
  /** False while it is being made: it may be there or not. */
  readonly ready: boolean;
  /** Options that were asked of a staged file system. */
  readonly options: readonly string[];
  readonly fileKind?: "directory" | "file";
  readonly identity?: MountIdentity;
  readonly directory?: DirectoryID;
  /**
   * Inode of the data directory: what is left of `directory` after a reboot, which may give its device another number.
   */
  readonly inode?: number;
  readonly deviceNumber?: string;
  /** Node of that device, where it is made of what was found: by LVM or LUKS. */
  readonly devicePath?: string;
  /** What its source was found to be: it is not followed to anything else (docs/security.md). */
  readonly found?: FoundSource;
  /** Version of the object whose content was written last. */
  readonly contentVersion?: string;
  /** The group that its content was written for. */
  readonly fsGroup?: number;
  /** Of the Secret that it was mounted with, where it was mounted with one. */
  readonly mountedWith?: SaltedDigest;
  /** Of a volume of a CSI driver. */
  readonly csi?: CSIRecord;
  /** Size that a volume which its plugin grows was brought to here, in bytes. */
  readonly capacityBytes?: string;
  /** The process that serves it, of FUSE: what it serves is of no use once it has ended. */
  readonly client?: ChildProcessID;
  /** What the plugin has to undo beside the mount on the staging path. */
  readonly undo?: Undo;
  /**
   * Nobody on the node held it any more, and its plugin has begun to undo the rest: its device may be another's by now.
   */
  readonly detaching?: boolean;
}

/** What a CSI driver was asked for: enough to undo it, whatever has become of intent, grant and claim. */
export interface CSIRecord {
  readonly driver: string;
  readonly volumeHandle: string;
  /** Directory of the volume's staging and publish paths. */
  readonly directory: string;
  /** The driver may have staged it: it had STAGE_UNSTAGE_VOLUME, or what it had is not known any more. */
  readonly needsUnstage: boolean;
  readonly block: boolean;
  /**
   * Everything that the driver was seen to mount for the volume: its release waits until no mount of the node shows it.
   */
  readonly shown: readonly ShownByDriver[];
  readonly calls: Calls;
  /**
   * The driver gives the files to a group itself (VOLUME_MOUNT_GROUP): to `mountGroup`, which it was told when it
   * staged.
   */
  readonly takesGroup?: boolean;
  readonly mountGroup?: number;
  /** SELinux label that the driver was told to mount with. */
  readonly seLinuxLabel?: string;
  /** Size that the volume was brought to here, in bytes. */
  readonly capacityBytes?: string;
  /**
   * A size that the driver does not bring it to as it stands, and why: it is not asked for that again until it is
   * staged anew.
   */
  readonly refused?: { readonly capacityBytes: string; readonly reason: Reason; readonly message: string };
}

/**
 * The mount that a CSI driver made at a path of ours, as it was after the call: the agent did not make it, so this is
 * its only identity.
 */
export interface ShownByDriver {
  readonly identity: MountIdentity;
  /** Its file system could be written to when it was first seen. */
  readonly writable?: boolean;
  /** Block device that it is on: `major:minor`, its node, and what tells it from the next device of that number. */
  readonly device?: { readonly number: string; readonly path: string; readonly disk?: string };
}

/** Whom the files that a mount shows were given to. */
export interface Owned {
  /** The group that everything there was given to by the agent, the root last; absent while that is not done. */
  readonly fsGroup?: number;
  /** Of that, what refused: the root, or more than half. */
  readonly refusedGroup?: { readonly failed: number; readonly entries: number; readonly example: string };
}

/** What a CSI driver was asked to publish for one target. In use until the driver has taken it back. */
export interface Published extends Owned {
  readonly path: string;
  readonly readOnly: boolean;
  /** What it shows; absent while that is not known. */
  readonly identity?: MountIdentity;
  /** The driver said OK, and the table showed something else: it has to take that back before it is asked again. */
  readonly refuted?: boolean;
  /** When the driver last said so; kept of a driver that has to be called again (requiresRepublish). */
  readonly at?: Moment;
}

/** One mount point that the agent has bound a volume to, written before the bind. */
export interface TargetRecord {
  readonly path: string;
  /** Name of the mount in the intent, for people. */
  readonly name: string;
  /** The intent that it was mounted for. */
  readonly uid: string;
  readonly kind: "directory" | "file";
  /** Whether the mount point was made by us and is ours to remove. */
  readonly made: boolean;
  /** What was bound there. */
  readonly identity: MountIdentity;
  /** Flags that were asked for: what the table shows instead is drift. */
  readonly attributes: MountAttributes;
  /** Mount id that it got; absent if that was not learned before a crash. */
  readonly mountID?: number;
  /**
   * The 64-bit id that it got, where the kernel has one: no other mount has it until the next boot. `mountID` is used
   * again, and both are others in another mount namespace.
   */
  readonly uniqueID?: number;
  /** Peer group that it got. It is the same in every mount namespace, in which a later agent may find itself. */
  readonly peerGroup?: number;
  /** Of a CSI volume: what the driver mounted, of which this is a bind. */
  readonly published?: Published;
  /** Of a volume that no driver has: its files, all of them, whichever part is bound. */
  readonly owned?: Owned;
  /** The pod that kubelet has asked for it for: kubelet alone gives it back, or a reboot. */
  readonly pod?: PodOfTarget;
  /** Directory or file of the volume that was bound instead of the whole. */
  readonly subPath?: string;
}

/** One volume of one pod, with the pod's names for people. */
export interface PodOfTarget {
  readonly uid: string;
  /** Name of the volume in the pod. */
  readonly volume: string;
  readonly namespace: string;
  readonly name: string;
}

/** What a target's record shows before anything is bound there: no mount has this identity. */
export const nothingShown: MountIdentity = { device: "", root: "" };

/** `record` with one target added or replaced. */
export function withTarget(record: VolumeRecord, target: TargetRecord): VolumeRecord {
  return { ...record, targets: [...record.targets.filter((t) => t.path !== target.path), target] };
}

/** PURE. The record without a target; the same targets if it has none at that path. */
export function withoutTarget(record: VolumeRecord, path: string): VolumeRecord {
  return { ...record, targets: record.targets.filter((target) => target.path !== path) };
}

/** What was staged is gone, and with it what had copies. */
export function withoutStage(record: VolumeRecord): VolumeRecord {
  const { stage: _removed, copies: _ended, ...rest } = record;
  return rest;
}

/** PURE. The record with the device that an mkfs is about to write, or without one if `device` is undefined. */
export function withFormatting(record: VolumeRecord, device: string | undefined): VolumeRecord {
  const { formatting: _before, ...rest } = record;
  return { ...rest, ...(device !== undefined && { formatting: device }) };
}

/** `record` without the device that was to be swapped to. */
export function withoutSwap(record: VolumeRecord): VolumeRecord {
  if (record.stage === undefined) return record;
  const { deviceNumber: _off, ...stage } = record.stage;
  return { ...record, stage: { ...stage, ready: false } };
}

/** PURE. The record after its child process has ended. */
export function withoutChild(record: VolumeRecord): VolumeRecord {
  const { child: _ended, ...rest } = record;
  return rest;
}

/**
 * The record after a reboot: no mount survives one, and device numbers may have changed. What is on disk does survive,
 * so a data directory is kept and known again by its inode; directories that we made to mount on stay ours to remove,
 * and a path stays with the volume that has it.
 */
export function afterReboot(record: VolumeRecord): VolumeRecord {
  const { stage, child: _gone, copies: _ended, ...rest } = record;
  const targets = record.targets.map(unmounted);
  if (stage?.csi !== undefined) {
    // No driver of before is left to act, and no mount; whether there is anything to undo, the driver knows.
    const { identity: _identity, deviceNumber: _number, ...kept } = stage;
    return { ...rest, stage: { ...kept, ready: false, csi: { ...stage.csi, shown: [], calls: {} } }, targets };
  }
  const kept = stage?.kind === "directory" || stage?.kind === "filesystem" || stage?.undo !== undefined;
  if (stage === undefined || !kept) return withoutStage({ ...rest, targets });
  const { identity: _identity, directory, deviceNumber: _number, devicePath: _path, ...more } = stage;
  const { found: _found, client: _client, ...known } = more;
  return { ...rest, stage: { ...known, ready: false, ...(directory && { inode: directory.inode }) }, targets };
}

/** Of a target only the mount point: no mount has this identity, and no pod of before runs. */
function unmounted(record: TargetRecord): TargetRecord {
  const {
    mountID: _id,
    uniqueID: _unique,
    peerGroup: _group,
    pod: _ended,
    published,
    owned: _given,
    ...target
  } = record;
  const { path, readOnly } = published ?? {};
  const again = path === undefined || readOnly === undefined ? {} : { published: { path, readOnly } };
  return { ...target, identity: nothingShown, ...again };
}
