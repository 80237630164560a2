import { VolumeError } from "../../errors.ts";
import type { MultipathMap, ScsiDisk, ScsiTree } from "../../host/ports/scsi.ts";
import type { TearDownContext } from "../api/teardown.ts";
import { mapOver } from "./device-of.ts";

/** A LUN whose disks are to be scanned for a larger size. */
export interface LunGrowth {
  /** For people. */
  readonly name: string;
  /** Bytes that it is to have. */
  readonly to: string;
  pathsIn(tree: ScsiTree): readonly ScsiDisk[];
}

/** Has the kernel ask on each path how large a LUN is, and grows what is on it: multipath's map, the file system. */
export async function growLun({ name, to, pathsIn }: LunGrowth, context: TearDownContext): Promise<void> {
  const { scsi, devices, hostRoot, stagingTarget } = context;
  for (const disk of pathsIn(await scsi.look(hostRoot))) await scsi.rescan(disk);
  const paths = pathsIn(await scsi.look(hostRoot));
  const smallest = Math.min(...paths.map(({ sizeBytes }) => sizeBytes));
  if (paths.length === 0 || smallest < Number(to)) {
    const has = paths.length === 0 ? "is not on the node" : `has ${smallest} bytes`;
    const message = `${name} ${has}, and capacity is ${to}: grow it on its storage first`;
    throw new VolumeError("VolumeResizeFailed", "transient", message);
  }
  const map = mapOver(paths);
  if (map !== undefined && map.sizeBytes < smallest) await scsi.growMap(map);
  const mount = (await context.tableNow()).at(stagingTarget.path);
  const nodeOf = (device: MultipathMap | ScsiDisk) => ("device" in device ? device.device : device.name);
  // A btrfs shows a number of its own, and what it was mounted from.
  const isMounted = (device: MultipathMap | ScsiDisk) =>
    device.deviceNumber === mount?.device ||
    (mount?.fsType === "btrfs" && [device.name, nodeOf(device)].includes(mount.source.replace(/^.*\//, "")));
  const device = [...(map === undefined ? [] : [map]), ...paths].find(isMounted);
  if (mount === undefined || device === undefined) {
    const message = `${name} is not what is mounted on ${stagingTarget.path}: nothing is grown`;
    throw new VolumeError("VolumeResizeFailed", "transient", message);
  }
  await devices.grow(`${hostRoot === "/" ? "" : hostRoot}/dev/${nodeOf(device)}`, mount.fsType, mount.point);
}
