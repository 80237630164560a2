import { VolumeError } from "../../errors.ts";
import type { Undo, UndoContext } from "../plugin.ts";
import { lunOf, mapOver, pathsOf } from "./lun.ts";

/** Has the kernel ask how large the LUN is by now, on each path, and grows what is on it: multipath's map, and the file system. */
export async function expandLun(undo: Undo, to: string, context: UndoContext): Promise<void> {
  const lun = lunOf(undo);
  const { iscsi, scsi, devices, hostRoot, stagingTarget } = context;
  const look = async () => pathsOf(lun, await iscsi.sessions(), (await scsi.look(hostRoot)).disks);
  for (const { disk } of await look()) await scsi.rescan(disk);
  const paths = await look();
  const smallest = Math.min(...paths.map(({ disk }) => disk.sizeBytes));
  if (paths.length === 0 || smallest < Number(to)) {
    const has = paths.length === 0 ? "is not on the node" : `has ${smallest} bytes`;
    const message = `LUN ${lun.lun} of ${lun.iqn} ${has}, and capacity asks for ${to}: grow it on the target first`;
    throw new VolumeError("VolumeResizeFailed", "transient", message);
  }
  const map = mapOver(paths);
  if (map !== undefined && map.sizeBytes < smallest) await scsi.growMap(map);
  const mount = (await context.tableNow()).at(stagingTarget.path);
  // Of several paths without a map the one that is mounted; a btrfs shows a number of its own, and goes by its mount point.
  const used = paths.find(({ disk }) => disk.deviceNumber === mount?.device) ?? paths[0];
  const name = map?.device ?? used?.disk.name;
  if (mount === undefined || name === undefined) return;
  await devices.grow(`${hostRoot === "/" ? "" : hostRoot}/dev/${name}`, mount.fsType, mount.point);
}
