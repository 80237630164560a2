/** A device that the kernel's device-mapper makes of others: a volume of LVM, what a LUKS header opens. */
export interface MappedDevice {
  /** Its node, as the agent sees it. */
  readonly path: string;
  /** `major:minor` */
  readonly deviceNumber: string;
  /** `major:minor` of what it is made of; none if that is gone. */
  readonly over: readonly string[];
}

/** A device as it was looked at (DeviceInfo): it is used only if its node stands for that one still. */
export interface ProbedDevice {
  readonly path: string;
  readonly deviceNumber: string;
  readonly identity?: string;
}

/** An LVM logical volume, as lvs(8) reports it. Sizes are bytes. */
export interface LogicalVolumeInfo {
  readonly sizeBytes: number;
  readonly active: boolean;
  /** Whether it is there to be used, and not a pool or a part of another one. */
  readonly shown: boolean;
  readonly tags: readonly string[];
  /** UUIDs of its group and of itself, which nothing changes; undefined if it is not known. */
  readonly identity?: string;
}

/** A logical volume, by its names: `GROUP/VOLUME` to LVM. */
export interface LogicalVolumeName {
  readonly volumeGroup: string;
  readonly logicalVolume: string;
}

/** How a LUKS header is written: with this UUID, on a device that is empty but for `rest`. */
export interface HeaderHow {
  readonly uuid: string;
  /**
   * DeviceInfo.contents of a device that need not be empty, as what is there is the rest of a header that was begun.
   */
  readonly rest?: string | undefined;
}

/**
 * Layers beneath a file system, made by the node's own programs (lvm, cryptsetup) in its mount namespace: they share
 * locks, caches and udev with what else the node does to them. Passphrases reach them by standard input. All reject
 * with VolumeError, ToolMissing among them.
 */
export interface Layers {
  /** The device-mapper device of this name; undefined if the kernel has none. */
  mapped(name: string): Promise<MappedDevice | undefined>;
  /** A passphrase that nobody can guess, for a header that nobody is to open again. */
  randomKey(): Uint8Array;
  /** Writes a LUKS2 header to a device that looks empty right before, too. Fails with DeviceNotEmpty or DeviceBusy. */
  formatLUKS(device: ProbedDevice, passphrase: Uint8Array, how: HeaderHow): Promise<void>;
  /** Opens a header as the device-mapper device `name`. Fails with PassphraseRefused. */
  openLUKS(device: ProbedDevice, name: string, passphrase: Uint8Array): Promise<void>;
  /** Brings what is open to the size of its device. Fails with PassphraseRefused. */
  resizeLUKS(name: string, passphrase: Uint8Array): Promise<void>;
  /** Closes what is open; nothing happens if it is not. Fails with DeviceBusy. */
  closeLUKS(name: string): Promise<void>;
  /**
   * Undefined if the volume group has none of this name. Fails with SourceNotFound if there is no such volume group.
   */
  logicalVolume(name: LogicalVolumeName): Promise<LogicalVolumeInfo | undefined>;
  /**
   * Makes one of at least so many bytes, and removes signatures of what was there before. Fails with VolumeGroupFull.
   */
  makeLogicalVolume(name: LogicalVolumeName, sizeBytes: bigint, tag: string): Promise<void>;
  /** Fails with VolumeGroupFull. */
  growLogicalVolume(name: LogicalVolumeName, sizeBytes: bigint): Promise<void>;
  /** Gives a logical volume its device, or takes it. Fails with DeviceBusy. */
  activate(name: LogicalVolumeName, active: boolean): Promise<void>;
}

/** PURE. The name that LVM gives the device of a logical volume: it doubles the hyphens in its names. */
export function mapperName({ volumeGroup, logicalVolume }: LogicalVolumeName): string {
  return [volumeGroup, logicalVolume].map((name) => name.replaceAll("-", "--")).join("-");
}

/** PURE. The names alone of what has more. */
export function nameOf({ volumeGroup, logicalVolume }: LogicalVolumeName): LogicalVolumeName {
  return { volumeGroup, logicalVolume };
}
