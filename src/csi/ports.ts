import type { Cancel } from "../ports.ts";

/** The CSI drivers that are registered on this node. */
export interface CSIDrivers {
  /** Undefined: no driver of that name is registered now. */
  driver(name: string): RegisteredDriver | undefined;
  names(): readonly string[];
  /**
   * Called with the name of each driver that was registered, removed or replaced, after `driver` returns the new state;
   * and with that of a driver which is reachable again after a failed connection.
   */
  subscribe(onChange: (name: string) => void): Cancel;
}

/** One registration: a driver that is replaced by another process, or on another socket, is another object. */
export interface RegisteredDriver {
  readonly name: string;
  /** Path of its CSI socket. */
  readonly endpoint: string;
  readonly node: NodeService;
}

/**
 * The node service of one driver (csi.v1.Node), over one connection. Each call rejects with a VolumeError, whose class
 * src/csi/client/error-classes.ts decides. Deadlines are kubelet's: 2 minutes; 10 s for capabilities and info. A call
 * that ran into its deadline may still be carried out by the driver. OK is the driver's claim; whether a mount exists
 * is decided by the mount table.
 */
export interface NodeService {
  /** Called once per connection, and again after a failure. */
  capabilities(): Promise<NodeCapabilities>;
  info(): Promise<NodeInfo>;
  stage(request: StageRequest): Promise<void>;
  /** OK also if the volume is not staged, or not known. */
  unstage(request: { readonly volumeID: string; readonly stagingPath: string }): Promise<void>;
  publish(request: PublishRequest): Promise<void>;
  /** OK also if the volume is not published there, or not known. */
  unpublish(request: { readonly volumeID: string; readonly targetPath: string }): Promise<void>;
  expand(request: ExpandRequest): Promise<{ readonly capacityBytes: string }>;
  stats(request: StatsRequest): Promise<VolumeStats>;
}

/** NodeServiceCapability: the optional RPCs of a driver. Capabilities that are unknown to this version are left out. */
export interface NodeCapabilities {
  readonly stageUnstage: boolean;
  readonly expand: boolean;
  readonly stats: boolean;
  readonly volumeMountGroup: boolean;
  readonly singleNodeMultiWriter: boolean;
  /** VOLUME_CONDITION, until specification 1.13; drivers built before have it: see `VolumeStats.condition`. */
  readonly volumeCondition: boolean;
}

/** The reply of NodeGetInfo, checked. */
export interface NodeInfo {
  readonly nodeID: string;
  /** 0: the driver sets no limit. */
  readonly maxVolumesPerNode: number;
  readonly accessibleTopology: ReadonlyMap<string, string>;
}

/** In memory only: never in a log, an error, an event, a status or the journal. */
export type Secrets = ReadonlyMap<string, string>;

/** Arguments of NodeStageVolume. */
export interface StageRequest {
  readonly volumeID: string;
  readonly publishContext: ReadonlyMap<string, string>;
  readonly stagingPath: string;
  readonly capability: VolumeCapability;
  readonly secrets: Secrets;
  readonly volumeContext: ReadonlyMap<string, string>;
}

/** `volumeContext` may carry tokens of service accounts: its values are treated as secrets are. */
export interface PublishRequest extends Omit<StageRequest, "stagingPath"> {
  readonly targetPath: string;
  readonly readOnly: boolean;
  /** Given if the driver has STAGE_UNSTAGE_VOLUME. */
  readonly stagingPath?: string;
}

/** Arguments of NodeExpandVolume. */
export interface ExpandRequest {
  readonly volumeID: string;
  readonly volumePath: string;
  /** Given if the driver has STAGE_UNSTAGE_VOLUME. */
  readonly stagingPath?: string;
  /** A decimal number. */
  readonly requiredBytes: string;
  readonly capability: VolumeCapability;
  readonly secrets: Secrets;
}

/** Arguments of NodeGetVolumeStats. */
export interface StatsRequest {
  readonly volumeID: string;
  readonly volumePath: string;
  /** Given if the driver has STAGE_UNSTAGE_VOLUME. */
  readonly stagingPath?: string;
}

/** The reply of NodeGetVolumeStats, checked. */
export interface VolumeStats {
  /** At most one entry a unit. */
  readonly usage: readonly VolumeUsage[];
  /** The volume condition of drivers with VOLUME_CONDITION; undefined if the driver reports none. */
  readonly condition: { readonly abnormal: boolean; readonly message: string } | undefined;
}

/** Decimal numbers; CSI's `available` and `used` are optional, and 0 if a driver leaves them out. */
export interface VolumeUsage {
  readonly unit: "BYTES" | "INODES";
  readonly total: string;
  readonly available: string;
  readonly used: string;
}

/** csi.v1.VolumeCapability. */
export interface VolumeCapability {
  readonly access: { readonly mode: AccessMode };
  readonly volume:
    | { readonly kind: "block" }
    | {
        readonly kind: "mount";
        readonly fsType: string;
        readonly mountFlags: readonly string[];
        /** A group id, for drivers with VOLUME_MOUNT_GROUP. */
        readonly mountGroup?: string;
      };
}

/** csi.v1.VolumeCapability.AccessMode.Mode. The last two: only for drivers with SINGLE_NODE_MULTI_WRITER. */
export type AccessMode =
  | "SINGLE_NODE_WRITER"
  | "SINGLE_NODE_READER_ONLY"
  | "MULTI_NODE_READER_ONLY"
  | "MULTI_NODE_SINGLE_WRITER"
  | "MULTI_NODE_MULTI_WRITER"
  | "SINGLE_NODE_SINGLE_WRITER"
  | "SINGLE_NODE_MULTI_WRITER";
