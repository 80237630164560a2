import { VolumeError } from "../../errors.ts";
import type { MultipathMap, ScsiDisk } from "../../host/scsi.ts";
import type { StageContext } from "../plugin.ts";

/** The node's multipath(8), asked whether it wants a path. */
const multipath = "/usr/sbin/multipath";

/** What is mounted or bound: what dm-multipath has made of all paths, or one of them. */
export interface LunDevice {
  /** The kernel's name, in /dev. */
  readonly name: string;
  /** `major:minor` */
  readonly deviceNumber: string;
}

/**
 * The device by which a LUN is used. Several paths are waited for until multipathd has made a map of them, if it runs and wants them: a path
 * that is mounted could not become part of one any more, and the volume would end with it.
 * @param paths at least one
 * @throws VolumeError DiskNotFound, when there is no map yet
 */
export async function deviceOf(paths: readonly ScsiDisk[], context: StageContext): Promise<LunDevice> {
  const [map] = mapsOver(paths);
  if (map !== undefined) return { name: map.device, deviceNumber: map.deviceNumber };
  const path = paths.find(({ state }) => state === "running") ?? paths[0];
  if (path === undefined) throw new Error("a LUN without a path has no device");
  if (paths.length === 1) return path;
  const names = paths.map(({ name }) => name).join(", ");
  if (await isWanted(path, context)) {
    const message = `multipathd has made no map yet of the paths ${names}: what it says to multipathd show maps`;
    throw new VolumeError("DiskNotFound", "transient", message, { on: { kind: "Device", name: `/dev/${path.name}` } });
  }
  context.progress(
    `of the paths ${names} one is used, ${path.name}: multipathd does not run on the node, or does not want them`,
  );
  return path;
}

/** PURE. Each once. */
export function mapsOver(paths: readonly ScsiDisk[]): MultipathMap[] {
  return [...new Map(paths.flatMap(({ map }) => (map === undefined ? [] : [[map.device, map] as const]))).values()];
}

/** Its configuration may leave disks of this kind out (multipath.conf: blacklist). */
async function isWanted({ name }: ScsiDisk, { scsi, hostRoot, programs }: StageContext): Promise<boolean> {
  if (!(await scsi.look(hostRoot)).multipathd) return false;
  if ((await programs.identify(multipath)) === undefined) return false;
  return (await programs.run(multipath, ["-c", `/dev/${name}`])).code === 0;
}
