/** How a disk is connected. `loop`: a file of the node as a disk. */
const transports = ["ata", "fc", "iscsi", "loop", "mmc", "nvme", "other", "sas", "usb", "virtio"] as const;

/** How a disk is connected to the node. */
export type Transport = (typeof transports)[number];

/** A whole disk of the node, as sysfs and udev's links show it, without a look at what is on it. */
export interface Disk {
  /** The kernel's, in /dev: another one may have it after a reboot, or when it is plugged in again. */
  readonly name: string;
  /** `major:minor` */
  readonly deviceNumber: string;
  readonly sizeBytes: number;
  /** Tells it from every other that may stand under its number later (DeviceInfo.identity). */
  readonly identity?: string;
  /** The name that it keeps for life: wwid or serial number. */
  readonly lastingName?: string;
  readonly wwid?: string;
  readonly serial?: string;
  readonly model?: string;
  readonly rotational: boolean;
  readonly transport: Transport;
  /** By what it is attached, if others than this node may reach it: iscsi, fc, nvme over tcp. */
  readonly attached?: string;
  /** Names of the links to it in /dev/disk/by-id. */
  readonly ids: readonly string[];
  /** Names of the links to it in /dev/disk/by-path. */
  readonly paths?: readonly string[];
  /** The kernel's count of disks in this boot (diskseq): a disk that comes again has another. */
  readonly sequence?: string;
  /** Why nobody else may use it, as far as sysfs tells: partitions, holders, write protection. */
  readonly claim?: string;
}
