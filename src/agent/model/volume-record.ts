import type { Reason } from "../../api/reasons.ts";
import type { MountIdentity } from "../../host/mount-table/mount-table.ts";
import type { DirectoryID } from "../../host/ports/host-ports.ts";
import type { ChildProcessID, MountAttributes } from "../../host/ports/types.ts";
import type { ChosenDisk } from "../../plugins/api/disk-choice.ts";
import type { TearDownData } from "../../plugins/api/teardown-data.ts";
import type { FoundSource, SourceType, StageKind } from "../../plugins/api/volume-plugin.ts";
import type { Calls, Moment } from "./csi-call-record.ts";
import type { IntentUID, MountPath, VolumeName } from "./identities.ts";
import type { SaltedDigest } from "./salted-digest.ts";

/**
 * The record of one volume: what the agent was about to do before it did it, and what it learned. Together with the
 * mount table it is the actual state of world. Only what is recorded is ever unmounted or removed (law L6).
 */
export interface VolumeRecord {
  /** Name of the intent. It identifies the volume on this node. */
  readonly name: VolumeName;
  /** Hash of the name: the volume's own directories are named by it. */
  readonly key: string;
  readonly type: SourceType;
  /** The intent that was acted for last. */
  readonly uid: IntentUID;
  /** Highest generation of that intent that was acted for (safety rule 4). */
  readonly generation: number;
  readonly stage?: StageRecord;
  readonly targets: readonly TargetRecord[];
  /** A child process that works for this volume and has not been seen to end (safety rule 8). */
  readonly child?: ChildProcessID;
  /** Identity of the device on which mkfs was begun after it looked empty, and was not seen to end well. */
  readonly formatting?: string;
  /** The volume's disk, chosen by a selector or found where the source names it. */
  readonly disk?: ChosenDisk;
  /** The disk's name that is the same on every node, if other nodes may reach it (diskName): status.disk. */
  readonly sharedDisk?: string;
  /** Names of the disks that were on the node when one was first looked for: no other is taken because it is empty. */
  readonly seenDisks?: readonly string[];
  /** The request for VolumeAttachments of the node, and the disks that were there before it. */
  readonly attachmentsAsked?: { readonly request: string; readonly disks: readonly string[] };
  /** Retained by deletionPolicy Retain: kept as it is, unmanaged. */
  readonly retained?: boolean;
  /** The intent was deleted, and its release has begun: that goes on even if the object disappears. */
  readonly revoked?: boolean;
  /** Detached copies of pods' bind mounts. Files that are open on them are in no mount table. */
  readonly copies?: readonly DetachedCopy[];
}

/**
 * A pod's bind mount in another mount namespace that the kernel detached together with its mount point. No mount table
 * lists it, and files that are open on it still use the volume.
 */
export interface DetachedCopy {
  /** The mount namespace that it was in, as /proc names it. Absent: whether, and where, could not be known. */
  readonly namespace?: string;
  /** The kernel's id of it, where it could be had. */
  readonly namespaceID?: string;
  /** The pod's mount point. */
  readonly path: string;
}

/** The record of a staged volume, written before the first effect, with `ready: false`, and again after the last. */
export interface StageRecord {
  readonly kind: StageKind;
  /** Source of the targets' bind mounts, as the agent sees it; also the mount point of a staged file system. */
  readonly path: string;
  /** False while stage runs: the mount or device may exist or not. */
  readonly ready: boolean;
  /** Options that were asked of a staged file system. */
  readonly options: readonly string[];
  readonly fileKind?: "directory" | "file";
  readonly identity?: MountIdentity;
  readonly directory?: DirectoryID;
  /** Inode of the data directory: it identifies that after a reboot, when its device may have another number. */
  readonly inode?: number;
  readonly deviceNumber?: string;
  /** Node of that device, where it is made of what was found: by LVM or LUKS. */
  readonly devicePath?: string;
  /** The source as it was found. Another object at the same path is not used (docs/security.md). */
  readonly found?: FoundSource;
  /** Version of the object whose content was written last. */
  readonly contentVersion?: string;
  /** The group that its content was written for. */
  readonly fsGroup?: number;
  /** Digest of the Secret that it was mounted with, if any. */
  readonly mountedWith?: SaltedDigest;
  /** Present for volumes of CSI drivers. */
  readonly csi?: CSIRecord;
  /** Size that a volume which its plugin grows was brought to here, in bytes. */
  readonly capacityBytes?: string;
  /** The FUSE client that serves the mount. The mount is useless once this process has ended. */
  readonly client?: ChildProcessID;
  /** Data for what the plugin has to undo, besides the mount on the staging path. */
  readonly undo?: TearDownData;
  /**
   * No process on the node used the volume any more, and its plugin has begun to detach it. Its device may belong to
   * another volume by now.
   */
  readonly detaching?: boolean;
}

/** Calls that a CSI driver has received for this volume: enough to undo them even if intent, grant and PVC are gone. */
export interface CSIRecord {
  readonly driver: string;
  readonly volumeHandle: string;
  /** Directory of the volume's staging and publish paths. */
  readonly directory: string;
  /** The driver may have staged it: it had STAGE_UNSTAGE_VOLUME, or what it had is not known any more. */
  readonly needsUnstage: boolean;
  readonly block: boolean;
  /** Everything that the driver was seen to mount for the volume: its release waits until no mount shows it. */
  readonly shown: readonly DriverMounts[];
  readonly calls: Calls;
  /** The driver applies the fsGroup itself (VOLUME_MOUNT_GROUP): `mountGroup`, which was passed in NodeStageVolume. */
  readonly takesGroup?: boolean;
  readonly mountGroup?: number;
  /** SELinux label that was passed to the driver as a mount option. */
  readonly seLinuxLabel?: string;
  /** Size that the volume was brought to here, in bytes. */
  readonly capacityBytes?: string;
  /**
   * A size to which the driver refused to expand the volume in its present state, and why. NodeExpandVolume is not
   * called for it again until the volume is staged anew.
   */
  readonly refused?: { readonly capacityBytes: string; readonly reason: Reason; readonly message: string };
}

/**
 * The mount that a CSI driver made at a path of ours, as it was after the call: the agent did not make it, so this is
 * its only identity.
 */
export interface DriverMounts {
  readonly identity: MountIdentity;
  /** Its file system could be written to when it was first seen. */
  readonly writable?: boolean;
  /** Its block device: `major:minor`, node, and the identity of the disk: another may get the same number. */
  readonly device?: { readonly number: string; readonly path: string; readonly disk?: string };
}

/** The fsGroup that was applied to the files of a mount. */
export interface Owned {
  /** The group that everything there was given to by the agent, the root last; absent while that is not done. */
  readonly fsGroup?: number;
  /** Of that, what refused: the root, or more than half. */
  readonly refusedGroup?: { readonly failed: number; readonly entries: number; readonly example: string };
}

/** NodePublishVolume calls for one target. The target counts as in use until NodeUnpublishVolume has succeeded. */
export interface Published extends Owned {
  readonly path: string;
  readonly readOnly: boolean;
  /** The mount that the driver made; absent while it is not known. */
  readonly identity?: MountIdentity;
  /** The driver returned OK, but the mount table showed no mount: NodeUnpublishVolume precedes the next publish. */
  readonly refuted?: boolean;
  /** Time of the last successful NodePublishVolume; recorded for drivers with requiresRepublish. */
  readonly at?: Moment;
}

/** One mount point that the agent has bound a volume to, written before the bind. */
export interface TargetRecord {
  readonly path: MountPath;
  /** Name of the mount in the intent, for people. */
  readonly name: string;
  /** The intent that it was mounted for. */
  readonly uid: IntentUID;
  readonly kind: "directory" | "file";
  /** Whether the mount point was made by us and is ours to remove. */
  readonly made: boolean;
  /** Identity of the mount that was bound there. */
  readonly identity: MountIdentity;
  /** Flags that the spec asked for. Other flags in the mount table are drift. */
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
  /** For a CSI volume: the driver's mount, of which this target is a bind mount. */
  readonly published?: Published;
  /** For other volumes: the fsGroup of all files of the volume, whichever part is bound. */
  readonly owned?: Owned;
  /** The pod that kubelet published it for. Only NodeUnpublishVolume or a reboot ends that. */
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

/** Placeholder identity in a target's record before the bind mount: no mount has this identity. */
export const nothingShown: MountIdentity = { device: "", root: "" };

/** `record` with one target added or replaced. */
export function withTarget(record: VolumeRecord, target: TargetRecord): VolumeRecord {
  return { ...record, targets: [...record.targets.filter((t) => t.path !== target.path), target] };
}

/** PURE. The record without a target; the same targets if it has none at that path. */
export function withoutTarget(record: VolumeRecord, path: MountPath): VolumeRecord {
  return { ...record, targets: record.targets.filter((target) => target.path !== path) };
}

/** The record without its stage. Detached copies are of no concern then, either. */
export function withoutStage(record: VolumeRecord): VolumeRecord {
  const { stage: _removed, copies: _ended, ...rest } = record;
  return rest;
}

/** PURE. The record with the device that an mkfs is about to write, or without one if `device` is undefined. */
export function withFormatting(record: VolumeRecord, device: string | undefined): VolumeRecord {
  const { formatting: _before, ...rest } = record;
  return { ...rest, ...(device !== undefined && { formatting: device }) };
}

/** PURE. The record without the question for VolumeAttachments: its disk is in use, or none is looked for. */
export function withoutQuestion(record: VolumeRecord): VolumeRecord {
  const { attachmentsAsked: _asked, ...rest } = record;
  return rest;
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
 * The record after a reboot. No mount survives, and device numbers may have changed. Data on disk does survive: a data
 * directory is kept and recognized by its inode, mount points that the agent made are still its own to remove, and a
 * path still belongs to its volume.
 */
export function afterReboot(record: VolumeRecord): VolumeRecord {
  const { stage, child: _gone, copies: _ended, attachmentsAsked: _old, ...rest } = record;
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

/** A target keeps only its mount point: no mount has this identity, and no pod of the previous boot runs. */
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
