/** Where a LUN is: a host adapter of the node, and channel, target and LUN of that (sysfs: host:channel:target:lun). */
export interface ScsiAddress {
  readonly host: number;
  readonly channel: number;
  readonly target: number;
  readonly lun: number;
}

/** One path to a LUN: a SCSI disk, as sysfs shows it. */
export interface ScsiDisk {
  /** The kernel's, in /dev. */
  readonly name: string;
  /** `major:minor` */
  readonly deviceNumber: string;
  readonly address: ScsiAddress;
  /** The kernel's word for whether it works: `running`, `blocked`, `offline`, `transport-offline` and the like. */
  readonly state: string;
  readonly sizeBytes: number;
  /**
   * The LUN's own name, the same on all paths (VPD page 0x83), as udev writes it: `3600508b4…` for NAA, `2…` for
   * EUI-64, `1VENDOR_…` for T10. Absent: the LUN reports none, and only its address identifies it.
   */
  readonly names: readonly string[];
  /** The one of these that the kernel takes: `naa.600508b4…`. */
  readonly wwid?: string;
  /** Tells the LUN from others that may be there later: the wwid; else this disk of this boot. Absent: nothing does. */
  readonly lasting?: string;
  /** Names of the links to it in /dev/disk/by-id. */
  readonly ids: readonly string[];
  /** Whether udev has looked at it, and told whoever listens. */
  readonly told: boolean;
  /** What dm-multipath has made of it and other paths. */
  readonly map?: MultipathMap;
}

/** A device-mapper map that multipathd(8) has made of several paths to one LUN. */
export interface MultipathMap {
  /** In /dev/mapper, and to multipath(8). */
  readonly name: string;
  /** The kernel's, in /dev. */
  readonly device: string;
  /** `major:minor` */
  readonly deviceNumber: string;
  readonly sizeBytes: number;
  /** The kernel's names of all devices that it is made of. */
  readonly paths: readonly string[];
}

/** A target that a host adapter has a connection to. */
export type ScsiPort = {
  readonly host: number;
  readonly channel: number;
  readonly target: number;
} & (
  | {
      readonly kind: "fc";
      /** 16 hexadecimal digits. */
      readonly wwn: string;
      /** `Online`, `Blocked`, `Not Present` and the like. */
      readonly state: string;
    }
  | {
      readonly kind: "iscsi";
      /** `session1` */
      readonly session: string;
      readonly iqn: string;
      /** `LOGGED_IN`, `FAILED`, `FREE` */
      readonly state: string;
    }
);

/** The SCSI disks, ports and hosts of the node, as sysfs lists them. */
export interface ScsiTree {
  readonly disks: readonly ScsiDisk[];
  readonly ports: readonly ScsiPort[];
  readonly hosts: readonly { readonly host: number; readonly driver: string }[];
  /** Whether multipathd(8) makes maps of paths here. */
  readonly multipathd: boolean;
}

/** SCSI disks and what is made of them by dm-multipath. All reject with VolumeError. */
export interface Scsi {
  /** Nothing is asked of a device. @param hostRoot the node's root, as the agent sees it */
  look(hostRoot: string): Promise<ScsiTree>;
  /** Has a host look for LUNs: for all where something is not given. A disk may appear a moment after this resolves. */
  scan(where: Pick<ScsiAddress, "host"> & Partial<ScsiAddress>): Promise<void>;
  /** Has the kernel ask a disk anew how large it is. */
  rescan(disk: ScsiDisk): Promise<void>;
  /**
   * Takes a disk off the node when nobody has it claimed: by a mount, swap, device-mapper or an exclusive open. What is
   * to be written is written before, if it can be. One that is gone is no error. Nor has anybody but multipathd it
   * open.
   * @throws VolumeError DeviceBusy
   */
  remove(disk: ScsiDisk, hostRoot: string): Promise<void>;
  /** Whether `remove` might; nothing is asked of the disk. @throws VolumeError DeviceBusy */
  refuseUsed(disk: ScsiDisk, hostRoot: string): Promise<void>;
  /**
   * Makes the node's multipathd(8) check a disk, as a udev event does: when this has resolved, the disk is in a map if
   * multipathd wants it. Without that program on the node, this does nothing.
   * @throws VolumeError DiskNotFound if multipathd does not answer
   */
  offer(disk: ScsiDisk): Promise<void>;
  /** Has the node's multipath(8) take a map away that nobody uses. @throws VolumeError DeviceBusy, ToolMissing */
  flushMap(map: MultipathMap): Promise<void>;
  /**
   * Has the node's multipathd(8) bring a map to the size of its paths.
   * @throws VolumeError FileSystemResizeFailed, ToolMissing
   */
  growMap(map: MultipathMap): Promise<void>;
}

/** PURE. */
export function scsiText({ host, channel, target, lun }: ScsiAddress): string {
  return [host, channel, target, lun].join(":");
}

/** PURE. The address that a name of sysfs is, as `2:0:0:1`. */
export function addressOf(text: string): ScsiAddress | undefined {
  if (!/^\d+:\d+:\d+:\d+$/.test(text)) return undefined;
  const [host = 0, channel = 0, target = 0, lun = 0] = text.split(":").map(Number);
  return { host, channel, target, lun };
}

/** PURE. Whether an address is of this port. */
export function isAt(port: ScsiPort, { host, channel, target }: Omit<ScsiAddress, "lun">): boolean {
  return port.host === host && port.channel === channel && port.target === target;
}

/** From here on a LUN may be told by another number: that of flat addressing (SAM-5, 4.7.7). */
const flat = 256;

/** PURE. Whether a LUN of sysfs is the one of this number, whatever way the target addresses it. */
export function isLun(shown: number, asked: number): boolean {
  return shown === asked || (asked >= flat && shown === (0x4000 | asked) && asked < 0x4000);
}

/** PURE. What to scan a port for to find a LUN: by itself, or all where its number may be another. */
export function scanFor({ host, channel, target }: Omit<ScsiAddress, "lun">, lun: number): Parameters<Scsi["scan"]>[0] {
  return { host, channel, target, ...(lun < flat && { lun }) };
}

/**
 * PURE. Whether a LUN is called this: a wwid as in core/v1 (`3600508b4…`, spaces or underscores in it), as in sysfs
 * (`naa.600508b4…`), or the rest of a link `scsi-…` in /dev/disk/by-id.
 */
export function isNamed({ names, wwid, ids }: ScsiDisk, asked: string): boolean {
  const name = asked.trim().replaceAll(/\s+/g, "_");
  return names.includes(name) || wwid === asked || ids.includes(`scsi-${name}`);
}
