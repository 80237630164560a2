import type {
  AttachedVolume,
  GrantedCSIVolume,
  NodeVolumeIntentSpec,
  SecretReference,
  VolumeSource,
} from "../../api/types.gen.ts";
import type { MountIdentity, MountTable } from "../../host/mount-table/mount-table.ts";
import type { MountEntry } from "../../host/mount-table/mountinfo.ts";
import type { Directories, DirectoryID, Effects, FileKind, PayloadFile } from "../../host/ports/host-ports.ts";
import type { ChildProcessID, MountAttributes, TargetPath } from "../../host/ports/types.ts";
import type { ContentRef, ObjectContent } from "./content.ts";
import type { ChosenDisk, KnownDisk } from "./disk-choice.ts";
import type { TearDownData, Vendors } from "./teardown-data.ts";

/** The members of VolumeSource: one plugin each. */
export type SourceType = keyof VolumeSource;

/** The part of an intent that a plugin works from. */
export interface VolumeSpec {
  /** Hash of the volume's name: its own directories beneath the state directory are named by it. */
  readonly key: string;
  readonly nodeName: string;
  readonly source: VolumeSource;
  readonly volumeMode: "Filesystem" | "Block";
  readonly fsType?: string;
  readonly mountOptions: readonly string[];
  /** Devices that may be formatted although something is on them, each with its contents (contentsName). */
  readonly destroyAllDataOnDevices?: readonly string[];
  /** Size that it is to have, in bytes as text, where its plugin makes or grows it. */
  readonly capacityBytes?: string;
  /** The leave to use the volume; of a CSI volume it says which one it is. */
  readonly grant?: NodeVolumeIntentSpec["grant"];
}

/** PURE. What the source of a volume says to the plugin of its type. @throws Error if it is another plugin's */
export function sourceOf<T extends SourceType>({ source }: VolumeSpec, type: T): NonNullable<VolumeSource[T]> {
  const own = source[type];
  if (own === undefined) throw new Error(`not a volume of ${type}`);
  return own;
}

/** A volume as its CSI driver is told of it. Two that differ in anything but driver and handle are still one volume. */
export interface CSIVolume {
  readonly driver: string;
  readonly volumeHandle: string;
  readonly readOnly: boolean;
  readonly block: boolean;
  /** "" leaves it to the driver. */
  readonly fsType: string;
  readonly accessMode: GrantedCSIVolume["accessMode"];
  /** Whether it is used by way of a VolumeAttachment. */
  readonly attached: boolean;
  readonly mountFlags: readonly string[];
  readonly volumeContext: ReadonlyMap<string, string>;
  readonly publishContext: ReadonlyMap<string, string>;
  /** requiresRepublish of the driver: NodePublishVolume is repeated from time to time, with the pod's identity. */
  readonly requiresRepublish: boolean;
  readonly podInfoOnMount: boolean;
  /** It acts as the pod that it publishes for, by its tokens for these audiences: in secrets or volume context. */
  readonly tokenAudiences?: readonly string[];
  readonly tokensInSecrets: boolean;
  /** Whether the agent may change whom its files belong to. Absent: the grant is from before this field. */
  readonly supportsFSGroup?: boolean;
  /** Whether it may be mounted with an SELinux label. */
  readonly seLinuxMount: boolean;
  /** Secrets that are handed to the driver, by what they are for: references only. */
  readonly secrets: {
    readonly stage?: SecretReference;
    readonly publish?: SecretReference;
    readonly expand?: SecretReference;
  };
}

/** What follows from the spec alone, without a look at the node. */
export interface Layout {
  /** Options asked of the staged file system; a change of them is a reconfiguration. */
  readonly options: readonly string[];
  /** The file system takes other options only when it is mounted anew, and may say that it took them. */
  readonly fixedOptions?: boolean;
  /** Whether targets are read-only whatever the mount says. */
  readonly readOnly: boolean;
  /** Whether device nodes on the targets must work unless nodev is named. */
  readonly devices: boolean;
  /** What is shown: the content of each of these. */
  readonly content?: readonly ContentRef[];
  /**
   * How its files come to belong to the group that a mount asks for, where no driver decides: all of them are gone
   * through, or the content is written for it. Undefined: they stay as they are.
   */
  readonly group?: "walk" | "write";
  /** Whether its plugin grows it while it is mounted. */
  readonly grows?: boolean;
  /** The content is not shown, but what the volume is mounted with. */
  readonly credentials?: boolean;
  /** The credentials open it, and nothing is kept of them: another Secret means nothing to what is open. */
  readonly opens?: boolean;
  /** The node itself uses it, as swap: it is wanted without a mount. */
  readonly swap?: true;
  /** Host path that the volume comes from. */
  readonly hostPath?: string;
  /** Name of the directory in the volume's data directory that targets show, where not that itself. */
  readonly shownData?: string;
  /** The volume of a CSI driver that is staged and published by that. */
  readonly csi?: CSIVolume;
  /** The file system that is staged, where the spec alone says how the mount table will name it. */
  readonly filesystem?: {
    readonly types: readonly string[];
    readonly source: string;
    /** Whether nobody but us makes one of this name. */
    readonly own: boolean;
  };
}

/**
 * The source of a volume's bind mounts:
 * - path: a file or directory of the host, found and described; nothing is made or mounted
 * - directory: a data directory of ours beneath the state directory
 * - filesystem: a file system of ours, mounted once on the staging path
 * - device: a block device that is bound as it is (volumeMode Block); swap: a device that the node swaps to
 * - csi: the driver's staging, if it has STAGE_UNSTAGE_VOLUME; each target is a bind of the driver's publish
 */
export type StageKind = "path" | "directory" | "filesystem" | "device" | "swap" | "csi";

/** The result of stage: the source of bind mounts, and the data for undoing it. */
export interface Staged {
  /** What was found at the path of the host that it comes from. */
  readonly found?: FoundSource;
  readonly kind: StageKind;
  /** What targets are bound from, as the agent sees it. */
  readonly path: string;
  readonly fileKind: "directory" | "file";
  readonly identity: MountIdentity;
  /** Of a data directory: which one it is. */
  readonly directory?: DirectoryID;
  /** Of a device, and of a file system on one: `major:minor`. */
  readonly deviceNumber?: string;
  /** Node of that, as the agent sees it, where it is not what was found: it is made of that. */
  readonly devicePath?: string;
  /** The process that serves it, of FUSE. */
  readonly client?: ChildProcessID;
}

/** The object that was at a path of the host when the volume was staged from it. */
export interface FoundSource {
  /** Where it is after all symbolic links, as the agent sees it. */
  readonly path: string;
  readonly kind: FileKind;
  /** `major:minor` that a device node stands for. */
  readonly deviceNumber?: string;
}

/** Arguments and ports for staging a volume. */
export interface StageContext extends Effects {
  readonly directories: Directories;
  /** Directory of ours for a volume: `<state directory>/data/<key>`. */
  readonly dataPath: string;
  /** Where a file system of ours is mounted: `<state directory>/staging/<key>`. */
  readonly stagingTarget: TargetPath;
  /** The mounts that the agent sees, when staging began. */
  readonly table: MountTable;
  /** What is mounted on the staging target already: a file system of ours, from an attempt before. */
  readonly stagingMount: MountEntry | undefined;
  /** The mounts now. */
  tableNow(): Promise<MountTable>;
  /** The node's root as the agent sees it. */
  readonly hostRoot: string;
  readonly vendors: Vendors;
  /** What the source was found to be when the volume was staged last, if that is on record. */
  readonly found: FoundSource | undefined;
  /** What an attempt before wrote down to be undone. */
  readonly undo: TearDownData | undefined;
  /** The group that content is written for. */
  readonly fsGroup: number | undefined;
  /** Of each that layout.content names, in its order. */
  readonly content: readonly ObjectContent[] | undefined;
  /** Identity of the device on which a file system was begun for this volume, and not seen to be finished. */
  readonly formatting: string | undefined;
  /**
   * The device is a layer of ours that was never finished (decision 0053): of a `header`, nobody else has the key,
   * whatever is read there; on a `volume`, also what an mkfs that failed has left there is ours, as it was left.
   */
  readonly unfinished?: "volume" | "header";
  /** `major:minor` of the device that was to be swapped to for this volume, in this boot. */
  readonly swapDevice: string | undefined;
  /** Takes back, durably, that a device was to be swapped to for this volume: it surely was not turned on. */
  recordNoSwap(): Promise<void>;
  /** The disk that the volume has, as it was chosen by what it is, or was found where the volume says. */
  readonly disk: ChosenDisk | undefined;
  /** Names of the disks that were on the node when one was first looked for; undefined if none was yet. */
  readonly seenDisks: readonly string[] | undefined;
  /** Writes these down, durably. */
  recordSeenDisks(names: readonly string[]): Promise<void>;
  /** Disks that other volumes have. */
  otherDisks(): readonly { readonly name: string; readonly disk: ChosenDisk }[];
  /**
   * Writes down which disk the volume has, durably, before anything is written to it or mounted of it.
   * @param uuid of the file system that is on it, if one is
   * @throws VolumeError DeviceBusy if another volume has it
   */
  recordDisk(disk: KnownDisk, uuid: string | undefined): Promise<void>;
  /**
   * Requests a disk that other nodes may reach, before it is written to, mounted or bound.
   * @param name its name on every node (diskName)
   * @throws VolumeError DiskNotCompared until the controller has confirmed that no other node has it; SourceDiffers if
   *   the volume had another disk
   */
  requireDiskGrant(name: string): Promise<void>;
  /**
   * The volumes that VolumeAttachments of the node name, listed after these disks were seen (decision 0119). Undefined
   * where the grant is of a controller that does not answer.
   * @param disks what tells them from disks that come later
   * @param how.counted whether each has its number in the kernel's count of disks: without it, one that went and came
   *   again looks the same, and only a recent answer counts
   * @throws VolumeError DiskNotCompared until the controller has answered
   */
  readonly attachedVolumes?:
    | ((disks: readonly string[], how: { readonly counted: boolean }) => Promise<readonly AttachedVolume[]>)
    | undefined;
  /** Writes down on which device a file system is begun, durably, before it is; undefined once it is finished. */
  recordFormatting(device: string | undefined): Promise<void>;
  /** The values of a Secret as they are now, to be kept nowhere. @throws VolumeError */
  secret(ref: SecretReference): Promise<ReadonlyMap<string, string>>;
  /** Reports the progress of a long step. */
  progress(message: string): void;
  /**
   * Writes down what is about to be made, durably, before it is made, so that a crash in between leaves a record of it.
   * @param what `undo` stays as it is if it is not given
   */
  record(
    what: Pick<Staged, "kind" | "path" | "directory" | "deviceNumber" | "devicePath" | "found"> & {
      undo?: TearDownData;
    },
  ): Promise<void>;
}

/**
 * One kind of volume. Everything after staging (binds, attributes, unmounts, removal) is the same for all of them and
 * not the plugin's business.
 */
export interface VolumePlugin {
  readonly type: SourceType;
  /** Pure. */
  layout(spec: VolumeSpec): Layout;
}

/** A plugin that sets its volumes up itself, where a CSI driver does not. */
export interface StagingPlugin extends VolumePlugin {
  /** Whether something is thrown away while it is staged: the trash is emptied afterwards. */
  readonly discards?: boolean;
  /**
   * Brings the volume to where targets can be bound from it. Idempotent: called again after a crash, a timeout, or when
   * what it made has gone. Rejects with VolumeError; nothing that it made is removed then.
   */
  stage(spec: VolumeSpec, context: StageContext): Promise<Staged>;
}

/** A plugin whose volumes show the content of objects and follow their changes (kubelet: RequiresRemount). */
export interface ContentPlugin extends StagingPlugin {
  /**
   * Pure. The files that the volume shows, from the content of each that its layout names.
   * @param fsGroup the group that they are written for
   * @throws VolumeError KeyNotFound, FileConflict
   */
  payload(spec: VolumeSpec, contents: readonly ObjectContent[], fsGroup?: number): readonly PayloadFile[];
}

/** PURE. Whether a plugin has a `stage` of its own. Without one a CSI driver stages the volume. */
export function stagesItself(plugin: VolumePlugin): plugin is StagingPlugin {
  return "stage" in plugin;
}

/** PURE. Whether a plugin shows content of API objects. */
export function showsContent(plugin: VolumePlugin): plugin is ContentPlugin {
  return "payload" in plugin;
}

/** Attributes of a staged file system: nothing on it may gain rights, whatever a target allows later. */
export const stagingAttributes: MountAttributes = {
  readOnly: false,
  nosuid: true,
  nodev: true,
  noexec: false,
  nosymfollow: false,
  nodiratime: false,
  atime: "relatime",
};
