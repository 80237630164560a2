import type { MountIdentity } from "../mount-table/mount-table.ts";
import type { MountTableSource } from "../mount-table/mount-table-source.ts";
import type { Layers, ProbedDevice } from "./block-layers.ts";
import type { NBDImages, RBDDevices } from "./ceph.ts";
import type { Disk } from "./disk.ts";
import type { Evidence, Holder, Traces } from "./evidence.ts";
import type { FlockerService } from "./flocker.ts";
import type { Images } from "./images.ts";
import type { ISCSI } from "./iscsi.ts";
import type { Ownership } from "./ownership.ts";
import type { Clients, Programs } from "./programs.ts";
import type { Repositories } from "./repositories.ts";
import type { Scsi } from "./scsi.ts";
import type { Servers, SlowChild } from "./servers.ts";
import type { SwapSource, Swaps } from "./swaps.ts";
import type { ChildProcessID, MountAttributes, TargetPath } from "./types.ts";
import type { Wakeups } from "./wakeups.ts";

export type { MountTableSource } from "../mount-table/mount-table-source.ts";
export type { Evidence, Holder } from "./evidence.ts";

/**
 * Everything that the agent does to Linux. linux/ is the real implementation; test/sim has one that behaves like the
 * kernel. Each method is one effect: it either happened or not, but for errors of class `uncertain`, and doing it again
 * is harmless. All reject with VolumeError.
 */
export interface HostPorts {
  /** The mount table of the agent's own mount namespace: operations act on it. */
  readonly mountTable: MountTableSource;
  /** The mount table of the node's mount namespace, if the agent has another one: all other processes see this one. */
  readonly nodeTable?: MountTableSource;
  readonly directories: Directories;
  readonly evidence: Evidence;
  /** What else of pods and their volumes is left on the node; absent: nothing is known of it. */
  readonly traces?: Traces;
  /** Whether servers of what is mounted answer; absent: nobody asks. */
  readonly servers?: Servers;
  /** What the kernel swaps to; absent: there is no swap of ours. */
  readonly swaps?: SwapSource;
  readonly journal: JournalFile;
  readonly wakeups: Wakeups;
  /** The effects of one operation on one volume. */
  effects(operation: OperationContext): Effects;
}

/** All that changes the host: the ports that operations are given. Looks and evidence are in `HostPorts`. */
export interface Effects {
  readonly mounter: Mounter;
  readonly devices: Devices;
  readonly ownership: Ownership;
  readonly programs: Programs;
  readonly flocker: FlockerService;
  readonly repositories: Repositories;
  readonly clients: Clients;
  readonly images: Images;
  readonly rbd: RBDDevices;
  readonly nbd: NBDImages;
  readonly scsi: Scsi;
  readonly iscsi: ISCSI;
  readonly layers: Layers;
  readonly swaps: Swaps;
}

/** The context of an operation: parts of it may run in a disposable child process. */
export interface OperationContext {
  /** Whose children it starts: those of a volume that hangs leave room to others. Undefined: of no volume. */
  readonly volume?: string;
  /** Milliseconds after which a child is killed. */
  readonly deadlineMs: number;
  /** The same for a child that makes a file system. */
  readonly formatDeadlineMs: number;
  /**
   * Called when a child process was started, before it gets its request: it is in the journal before it can hang
   * (safety rule 8). The child process is abandoned if this rejects.
   */
  onChild(child: ChildProcessID): Promise<void>;
  /** Called once for a slow child process; it continues until its deadline. */
  onSlow?(slow: SlowChild): void;
  /** Aborted when nobody wants the volume any more: a fetch ends then as if it was cut off. Nothing else does. */
  readonly unwanted?: AbortSignal;
}

/** A path that a volume comes from: `path` looked up as if `root` were the root directory. */
export interface SourcePath {
  readonly root: string;
  readonly path: string;
  /** Refuse: no link beneath `root` is followed (SymlinkInPath). Followed within `root` if not given. */
  readonly links?: "refuse";
}

/** The type of a file (st_mode). */
export type FileKind = "directory" | "file" | "socket" | "charDevice" | "blockDevice" | "other";

/** The file at the source path of a volume. */
export interface SourceInfo {
  readonly kind: FileKind;
  /** What a bind of it shows. */
  readonly identity: MountIdentity;
  /** Where it is after all symbolic links, as seen by the agent. */
  readonly canonicalPath: string;
  /** Type of the file system that it is on. */
  readonly fsType: string;
  /** `major:minor` that a device node stands for. */
  readonly deviceNumber?: string;
}

/** How an unmount is done, from gentle to harsh: umount2(2) without flags, with MNT_FORCE, with MNT_DETACH. */
export type UnmountMode = "Normal" | "Force" | "Lazy";

/** Mounts, binds and unmounts. Each call is idempotent, names its mount by id, and fails rather than touch another. */
export interface Mounter {
  /** What is at a source path, links followed within its root; undefined if nothing. */
  inspect(source: SourcePath): Promise<SourceInfo | undefined>;
  /**
   * Makes an empty directory or file at a source path, and its parents; what is there already stays. Fails with
   * SymlinkInPath if there is a link on the way, which would say where something is made.
   */
  makeSource(source: SourcePath, kind: "directory" | "file", mode: number): Promise<void>;
  /** What is at a target path, mounts included; undefined if nothing. */
  inspectTarget(target: TargetPath): Promise<{ readonly kind: FileKind; readonly mountID: number } | undefined>;
  /** Makes the directory or empty file to mount on, and its parents; what is there already stays. */
  makeTarget(target: TargetPath, kind: "directory" | "file"): Promise<void>;
  /** Removes the directory or empty file, if it is empty and no mount is on it. Else it stays, which is no error. */
  removeTarget(target: TargetPath, kind: "directory" | "file"): Promise<void>;
  /**
   * Mounts `source` on `target`, with its attributes from the first instant, private of the source's propagation.
   * `expect` is what the source must show. Fails with ForeignMount if anything is mounted on the target already.
   */
  bind(source: SourcePath, expect: MountIdentity, target: TargetPath, attributes: MountAttributes): Promise<void>;
  /** Mounts a new file system. Fails with ForeignMount if anything is mounted on the target already. */
  mountFilesystem(request: FilesystemMount): Promise<void>;
  /**
   * Changes the flags of the mount with this id, if it is still the topmost one on the target. Its `uniqueID`, here and
   * below, tells it from another that has got its id since.
   */
  setAttributes(target: TargetPath, mountID: number, attributes: MountAttributes, uniqueID?: number): Promise<void>;
  /** Changes options of the file system itself. Fails with OptionsRefused if the kernel does not take them. */
  reconfigure(target: TargetPath, mountID: number, options: readonly string[], uniqueID?: number): Promise<void>;
  /** Bytes of the file system that a path is on (statfs), always asked in a child. */
  sizeOf(source: SourcePath): Promise<number>;
  /** Unmounts the mount with this id, if it is still the topmost one on the target. */
  unmount(target: TargetPath, mountID: number, unmountMode: UnmountMode, uniqueID?: number): Promise<void>;
}

/** A block device and its contents, at the moment of one look. */
export interface DeviceInfo {
  /** Node that the path stands for after links. */
  readonly path: string;
  readonly deviceNumber: string;
  readonly sizeBytes: number;
  /** Tells this device from every other that may stand under its number later; undefined if nothing does. */
  readonly identity?: string;
  /** The name that it keeps for life (Disk.lastingName); of a partition with where it begins. */
  readonly lastingName?: string;
  /** `major:minor` of each device that it is a part of, or is made of (devicesBeneath); absent if there is none. */
  readonly beneath?: readonly string[];
  /** Type of the file system or other signature that is there. */
  readonly signature?: string;
  /** UUID of that, if it has one. */
  readonly uuid?: string;
  /** Label of that, if it has one. */
  readonly label?: string;
  /** Digest of what stands at its beginning and end; undefined if that is nothing but zeros. */
  readonly contents?: string;
  /**
   * Whether the device looks empty: no signature, and nothing but zeros where file systems and tables begin and end.
   */
  readonly empty: boolean;
  /** Bytes of the swap area that is there, where its size is known. */
  readonly swapBytes?: number;
  /** Who else has it: mount, holder such as device-mapper, partitions, loop device, or any process that has it open. */
  readonly busy?: string;
  /** Those of them whose end may release the device. */
  readonly heldBy?: readonly number[];
  /**
   * Who has it only reads, has the disk that it is a partition of, or cannot be seen: that keeps nobody from a mount of
   * what is on it, but from writing anything in its place.
   */
  readonly allowsMount?: true;
  /** How it, or what it is made of, is attached, if others may reach it: iscsi, fc, nvme over tcp, rbd, nbd. */
  readonly attached?: string;
  /** The kernel's count of disks in this boot (Disk.sequence), of the disk that it is, or is a partition of. */
  readonly sequence?: string;
  /** It is made of memory: nothing of what is on it is there in the next boot. */
  readonly endsWithBoot?: true;
  /**
   * Whether the file system that is there has a journal that was not brought to its place; of xfs that is not known.
   */
  readonly journalLeft?: boolean;
  /** Its journal is on another device, which what is on this one names: an ext3 or ext4. */
  readonly journalElsewhere?: boolean;
}

/** The identity of a device, and how it is attached. */
export type DeviceAttributes = Pick<
  DeviceInfo,
  "sizeBytes" | "identity" | "lastingName" | "beneath" | "attached" | "endsWithBoot"
>;

/** Inspects and formats block devices. Every write proves first that the device is the one that was inspected (L11). */
export interface Devices {
  probe(source: SourcePath): Promise<DeviceInfo>;
  /** Attributes of the device with this `major:minor` from sysfs. The device is neither opened nor read. */
  attributes(deviceNumber: string): Promise<DeviceAttributes>;
  /**
   * The holder of the device, or of a partition of it, or the loop devices that are built on it; undefined if there is
   * none. Partitions alone are no claim. The device is not read, so that this works for a failed one, too.
   */
  claim(path: string, deviceNumber: string): Promise<string | undefined>;
  /** Visible processes that have the device with this `major:minor`, or a partition of it, open or mapped. */
  openers(deviceNumber: string): Promise<readonly Holder[]>;
  /** All disks of the node. Nothing is read from them. @param hostRoot the node's root, as the agent sees it */
  disks(hostRoot: string): Promise<readonly Disk[]>;
  /**
   * Makes a file system on a device that nobody has, and that looks empty once more right before. Fails with DeviceBusy
   * or DeviceNotEmpty if it is not so, and with SetUpFailed if it is not the device that is meant.
   */
  format(source: SourcePath, fsType: string, onProgress: (line: string) => void, how: FormatHow): Promise<void>;
  /**
   * Repairs a file system as far as that is safe without a decision (e2fsck -p), on a device that has no other user,
   * right before it is mounted. A file system that was unmounted cleanly, or whose type cannot be repaired this way, is
   * left alone. Fails with FilesystemDamaged, ReadError, DeviceBusy, or SetUpFailed if it is not the intended device.
   * @param tell called with the progress, and with what was repaired
   */
  mend(device: DeviceInfo, fsType: string, tell: (message: string) => void): Promise<void>;
  /** Brings a file system that is mounted at `point` to the size of its device. Nothing happens if it has that. */
  grow(path: string, fsType: string, point: string): Promise<void>;
  /**
   * Destroys what is on a device that nobody has (DeviceBusy): zeros over its beginning and end.
   * @param contents as they were when that was looked at: anything else stays (DeviceNotEmpty)
   */
  wipe(device: DeviceInfo, contents: string): Promise<void>;
}

/** Limits of mkfs: which device it may write to, and which contents it may overwrite. */
export interface FormatHow {
  /** Identity of the device that is meant, if anything tells it. */
  readonly identity?: string | undefined;
  /**
   * Identity of a device on which it was begun and not finished: if it is this one, and neither a signature nor
   * anybody's claim is on it, what else is on it is the rest of that (law L11, decision 0013).
   */
  readonly begun?: string | undefined;
  /** DeviceInfo.contents of that rest, as it was looked at: anything else is somebody's. */
  readonly rest?: string | undefined;
  /** Label that it gets. */
  readonly label?: string | undefined;
}

/** Proof of which directory a record speaks of: a path may come to mean another. */
export interface DirectoryID {
  readonly device: number;
  readonly inode: number;
}

/** A file of an atomic payload. */
export interface PayloadFile {
  /** Relative path, clean, without segments that start with `..`. */
  readonly path: string;
  readonly content: Uint8Array;
  readonly mode: number;
}

/** Directories of our own beneath the state directory. Paths are absolute. */
export interface Directories {
  /** Makes a directory, and its parents (0700), with this mode whatever the umask. What is there already stays. */
  make(path: string, mode: number): Promise<DirectoryID>;
  /**
   * Keeps all that is in a directory, which is empty or limited already, below so many bytes, until it is discarded.
   * Again with the same is no error. @throws VolumeError QuotaUnsupported
   */
  limit(path: string, bytes: bigint): Promise<void>;
  /** The directory at a path, not following a link there; undefined if there is none. */
  identify(path: string): Promise<DirectoryID | undefined>;
  /**
   * Makes `directory` show exactly `files`, all at once for a reader: the atomic writer (kubelet behaviour 121). Equal
   * content is not written again. With `fsGroup` everything belongs to that group, which may read it, from the first
   * moment that it is shown (behaviour 75); the directories pass the group on. @returns whether anything was written
   */
  writePayload(directory: string, files: readonly PayloadFile[], fsGroup?: number): Promise<boolean>;
  /** Truncates a file of ours that is larger; processes that append to it continue. A missing file is no error. */
  emptyIfLarger(path: string, bytes: number): Promise<void>;
  /** Removes the directory if it is empty; what is not there is no error. */
  remove(path: string): Promise<void>;
  /**
   * Moves the directory, if it is still the one that `id` says, into the trash. Gone or another one: nothing is done.
   */
  discard(path: string, id: DirectoryID): Promise<void>;
  /**
   * Empties the trash, staying beneath it, following no link and crossing into no other file system. What cannot be
   * removed does not keep the rest; rejects at the end, naming some of it.
   */
  emptyTrash(): Promise<void>;
}

/** The file that the journal is in. All reject with VolumeError. */
export interface JournalFile {
  /** The whole journal; empty if there was one that is gone, undefined if there never was. */
  read(): Promise<string | undefined>;
  /** Appends text and makes it durable. */
  append(text: string): Promise<void>;
  /** Replaces the whole journal, atomically and durably. */
  replace(text: string): Promise<void>;
  /**
   * Keeps the journal as it is, byte by byte, durably, in a file beside it. A copy that is there already is never
   * written over; one that is equal serves. @returns the path of the copy
   */
  keepCopy(suffix: string): Promise<string>;
  /** Lets go of the file. It may be used again afterwards. */
  close(): Promise<void>;
}

/**
 * A file system to mount, and where: the arguments of fsopen, fsconfig, fsmount and move_mount (mount(8) for helpers).
 */
export interface FilesystemMount {
  readonly fsType: string;
  /** What stands in the source column: a device path, `server:/export`, a name for tmpfs. */
  readonly source: string;
  readonly options: readonly string[];
  readonly attributes: MountAttributes;
  readonly target: TargetPath;
  /**
   * The block device that was looked at: right before it is mounted it is proved to be that one still, and that nobody
   * else has it, but for who only reads it. Else DeviceBusy or SetUpFailed.
   */
  readonly device?: Pick<ProbedDevice, "deviceNumber" | "identity">;
  /** Whom a server is to take us for: handed to the program that mounts, shown and kept nowhere. */
  readonly credentials?: MountCredentials;
}

/** Credentials of a network file system. They never appear on a command line or in an error. */
export interface MountCredentials {
  readonly username: string;
  readonly password: string;
  readonly domain?: string;
}
