import { readdirSync, realpathSync } from "node:fs";
import { basename, dirname } from "node:path";
import { attribute } from "../syscall/block-device.ts";
import { ifThere } from "../syscall/errno.ts";

/**
 * Character devices by which a program sends commands to a disk, beside its block device: `/dev/sg0`,
 * `/dev/bsg/0:0:0:0`, `/dev/ng0n1`. A virtual machine that a SCSI disk is passed through to has such a node open, and
 * no other.
 * @param sys /sys, or a made tree
 * @returns `major:minor` of each; a partition has none
 */
export function genericNodesOf(sys: string, deviceNumber: string): readonly string[] {
  const place = ifThere(() => realpathSync(`${sys}/dev/block/${deviceNumber}`));
  if (place === undefined) return [];
  const scsi = ["scsi_generic", "bsg"].flatMap((kind) => {
    const directory = `${place}/device/${kind}`;
    return (ifThere(() => readdirSync(directory)) ?? []).map((name) => `${directory}/${name}`);
  });
  const name = basename(place);
  const nvme = name.startsWith("nvme") ? [`${dirname(place)}/${name.replace("nvme", "ng")}`] : [];
  return numbersOf([...scsi, ...nvme]);
}

/**
 * All by which a program sends commands to a disk: also its NVMe controllers, which take them for any of their disks
 * (nvme_dev_ioctl of Linux: to format one, or to write to the only one).
 * @param sys /sys, or a made tree
 */
export function commandNodesOf(sys: string, deviceNumber: string): readonly string[] {
  return [...genericNodesOf(sys, deviceNumber), ...controllersOf(sys, deviceNumber)];
}

/**
 * Controllers of an NVMe disk, `/dev/nvme0`, by which all disks of each are reached. With native multipath, the disk is
 * beneath its subsystem, which links to its controllers (nvme_init_subsystem of Linux).
 * @param sys /sys, or a made tree
 * @returns `major:minor` of each; another disk, and a partition, has none
 */
export function controllersOf(sys: string, deviceNumber: string): readonly string[] {
  const place = ifThere(() => realpathSync(`${sys}/dev/block/${deviceNumber}`));
  if (place === undefined || !/^nvme\d+n\d+$/.test(basename(place))) return [];
  const above = dirname(place);
  const linked = (ifThere(() => readdirSync(above)) ?? []).filter((name) => /^nvme\d+$/.test(name));
  return numbersOf([above, ...linked.map((name) => `${above}/${name}`)]);
}

function numbersOf(nodes: readonly string[]): readonly string[] {
  return nodes.map((node) => attribute(`${node}/dev`)).filter((number) => number !== "");
}
