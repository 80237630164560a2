import type { VolumeSource } from "../../api/types.gen.ts";
import type { VolumeID } from "./volume-key.ts";

/** A disk that a source names by itself, and that several nodes can reach. */
export interface NamedDisk {
  readonly id: VolumeID;
  readonly readOnly: boolean;
}

/** As kubelet called its plugins: no CSI driver's name has a slash. */
const ofPlugin = "kubernetes.io/";

/**
 * PURE. Which disk a source names, by what the disk is and not by the way to it; undefined if its file system is made
 * for many nodes, or it can be one node's alone. Two disks of one ID wait for each other for nothing, one disk of two
 * IDs is written by two nodes: what does not tell disks apart for certain is left out (decision 0062).
 */
export function diskOf({ iscsi, fc, rbd }: VolumeSource): NamedDisk | undefined {
  if (iscsi !== undefined) return named("iscsi", `${iscsi.iqn.toLowerCase()} ${iscsi.lun}`, iscsi);
  if (fc !== undefined) return named("fc", fc.wwids ? first(fc.wwids.map(plainWwid)) : portAndLun(fc), fc);
  if (rbd !== undefined)
    return named("rbd", `${first(rbd.monitors.map(hostOf))} ${rbd.pool ?? "rbd"}/${rbd.image}`, rbd);
  return undefined;
}

/** Whether an ID is that of a disk that a source names, and not of a CSI driver's volume. */
export function isDisk({ driver }: VolumeID): boolean {
  return driver.startsWith(ofPlugin);
}

function named(plugin: string, volumeHandle: string, { readOnly = false }: { readOnly?: boolean }): NamedDisk {
  return { id: { driver: `${ofPlugin}${plugin}`, volumeHandle }, readOnly };
}

function portAndLun({ targetWWNs = [], lun = 0 }: NonNullable<VolumeSource["fc"]>): string {
  return `${first(targetWWNs.map(plainWWN))} ${lun}`;
}

/** Of several names of one disk, in whatever order. */
function first(names: readonly string[]): string {
  return [...names].sort()[0] ?? "";
}

/** `0x` and colons are ways to write it. */
function plainWWN(wwn: string): string {
  return wwn.toLowerCase().replace(/^0x/, "").replaceAll(":", "");
}

/** What sysfs puts before a wwid, and udev in its place (scsi_id). */
const wwidTypes: readonly (readonly [string, string])[] = [
  ["naa.", "3"],
  ["eui.", "2"],
  ["t10.", "1"],
  ["scsi.", "8"],
];

/** As udev writes it: the agent takes both ways to write it for one disk (scsi-names.ts). */
function plainWwid(wwid: string): string {
  const name = wwid.trim().replaceAll(/\s+/g, "_");
  const type = wwidTypes.find(([inSysfs]) => name.toLowerCase().startsWith(inSysfs));
  const plain = type === undefined ? name : type[1] + name.slice(type[0].length);
  return /^[0-9a-f]+$/i.test(plain) ? plain.toLowerCase() : plain;
}

/**
 * Of a monitor, without its ports: it has one for each version of the protocol. What other monitors name is the
 * cluster's to refuse (decision 0057).
 */
function hostOf(monitor: string): string {
  return monitor.toLowerCase().replace(/:(6789|3300)$/, "");
}
