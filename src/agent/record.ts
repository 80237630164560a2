import type { MountIdentity } from "../host/mount-table.ts";
import type { ChildProcessID, DirectoryID, MountAttributes } from "../host/ports.ts";
import type { FoundSource, SourceType, StageKind } from "../plugins/plugin.ts";

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
  /** Identity of the device on which mkfs was begun after it was proved empty, and was not seen to end well. */
  readonly formatting?: string;
  /** Given up on purpose (deletionPolicy Retain): kept as it is, nobody is in charge. */
  readonly retained?: boolean;
  /** The intent was seen to be deleted, and its release has begun: it goes on even when the intent is gone. */
  readonly revoked?: boolean;
}

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
  /** Inode of the data directory: what is left of `directory` after a reboot, which may give its device another number. */
  readonly inode?: number;
  readonly deviceNumber?: string;
  /** What its source was found to be: it is not followed to anything else (docs/security.md). */
  readonly found?: FoundSource;
  /** Version of the object whose content was written last. */
  readonly contentVersion?: string;
}

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
}

/** `record` with one target added or replaced. */
export function withTarget(record: VolumeRecord, target: TargetRecord): VolumeRecord {
  return { ...record, targets: [...record.targets.filter((t) => t.path !== target.path), target] };
}

export function withoutTarget(record: VolumeRecord, path: string): VolumeRecord {
  return { ...record, targets: record.targets.filter((target) => target.path !== path) };
}

export function withoutStage(record: VolumeRecord): VolumeRecord {
  const { stage: _removed, ...rest } = record;
  return rest;
}

export function withFormatting(record: VolumeRecord, device: string | undefined): VolumeRecord {
  const { formatting: _before, ...rest } = record;
  return { ...rest, ...(device !== undefined && { formatting: device }) };
}

export function withoutChild(record: VolumeRecord): VolumeRecord {
  const { child: _ended, ...rest } = record;
  return rest;
}

/**
 * The record after a reboot: no mount survives one, and device numbers may have changed. What is on disk does survive,
 * so a data directory is kept and known again by its inode; directories that we made to mount on stay ours to remove, and a path
 * stays with the volume that has it.
 */
export function afterReboot(record: VolumeRecord): VolumeRecord {
  const { stage, child: _gone, ...rest } = record;
  const targets = record.targets.map(unmounted);
  if (stage?.kind !== "directory" && stage?.kind !== "filesystem") return withoutStage({ ...rest, targets });
  const { identity: _identity, directory, deviceNumber: _number, found: _found, ...kept } = stage;
  return { ...rest, stage: { ...kept, ready: false, ...(directory && { inode: directory.inode }) }, targets };
}

/** Of a target only the mount point: no mount has this identity. */
function unmounted({ mountID: _id, uniqueID: _unique, peerGroup: _group, ...target }: TargetRecord): TargetRecord {
  return { ...target, identity: { device: "", root: "" } };
}
