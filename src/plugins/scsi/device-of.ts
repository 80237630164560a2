import { VolumeError } from "../../errors.ts";
import type { MultipathMap, ScsiDisk } from "../../host/ports/scsi.ts";
import type { StageContext } from "../api/volume-plugin.ts";

/** What is mounted or bound: what dm-multipath has made of all paths, or one of them. */
export interface LunDevice extends LunWay {
  /** ScsiDisk.lasting of its paths. */
  readonly lasting?: string;
  /** All by which it may be in use: the map, or each path. */
  readonly ways: readonly LunWay[];
}

/** One path to a LUN: a SCSI disk of the kernel. */
interface LunWay {
  /** The kernel's name, in /dev. */
  readonly name: string;
  /** `major:minor` */
  readonly deviceNumber: string;
}

/**
 * The device by which a LUN is used. Where multipathd runs, each path that is in no map is reported to it, which also
 * shows whether it wants the path: a path that is mounted could not join a map any more, and the volume would end with
 * that path. (udev's rules use multipath -c, which answers no for two paths that multipathd is about to make a map of.)
 * @param paths at least one
 * @param look the paths, as they are now
 * @throws VolumeError DiskNotFound while multipathd does not answer; DeviceBusy if the map also contains something else
 */
export async function deviceOf(
  paths: readonly ScsiDisk[],
  look: () => Promise<readonly ScsiDisk[]>,
  context: StageContext,
): Promise<LunDevice> {
  const map = mapOver(paths);
  if (map !== undefined) return ofMap(map, paths);
  const { multipathd } = await context.scsi.look(context.hostRoot);
  if (!multipathd) return ofPath(paths, "multipathd does not run on the node", context);
  refuseUntold(paths);
  for (const path of paths) await context.scsi.offer(path);
  const now = await look();
  const made = mapOver(now);
  if (made !== undefined) return ofMap(made, now);
  return ofPath(paths, "multipathd does not want them (multipath.conf: find_multipaths, blacklist)", context);
}

function ofMap({ device, deviceNumber }: MultipathMap, paths: readonly ScsiDisk[]): LunDevice {
  const way = { name: device, deviceNumber };
  return { ...way, ...lastingOf(paths[0]), ways: [way] };
}

function ofPath(paths: readonly ScsiDisk[], why: string, { progress }: StageContext): LunDevice {
  const path = paths.find(({ state }) => state === "running") ?? paths[0];
  if (path === undefined) throw new Error("a LUN without a path has no device");
  if (paths.length > 1) progress(`one of the paths ${namesOf(paths)} is used, ${path.name}: ${why}`);
  const ways = paths.map(({ name, deviceNumber }) => ({ name, deviceNumber }));
  return { name: path.name, deviceNumber: path.deviceNumber, ...lastingOf(path), ways };
}

function lastingOf(disk: ScsiDisk | undefined): Pick<LunDevice, "lasting"> {
  return disk?.lasting === undefined ? {} : { lasting: disk.lasting };
}

/** multipathd goes by what udev knows of a disk: it leaves alone one that udev has not examined. */
function refuseUntold(paths: readonly ScsiDisk[]): void {
  const untold = paths.filter(({ told }) => !told);
  const [first] = untold;
  if (first === undefined) return;
  const message = `multipathd runs on the node, and udev has not reported ${namesOf(untold)} to it yet: check that systemd-udevd runs there`;
  throw new VolumeError("DiskNotFound", "transient", message, { on: { kind: "Device", name: `/dev/${first.name}` } });
}

function namesOf(paths: readonly ScsiDisk[]): string {
  return paths.map(({ name }) => name).join(", ");
}

/**
 * PURE. What multipath has made of the paths to one LUN. It goes by what LUNs call themselves, which others may call
 * themselves as well.
 * @param paths all that are the volume's
 * @throws VolumeError DeviceBusy, if it is made of anything else, too
 */
export function mapOver(paths: readonly ScsiDisk[]): MultipathMap | undefined {
  const known = paths.map(({ name }) => name);
  const maps = paths.flatMap(({ map }) => map ?? []);
  const [first] = maps;
  const strange = maps.flatMap((map) => map.paths).filter((name) => !known.includes(name));
  const [stranger] = strange;
  if (first === undefined || (stranger === undefined && maps.every(({ device }) => device === first.device)))
    return first;
  const of = [...new Set([...known, ...strange])].join(", ");
  const message = `multipath has made ${first.name} of ${of}, of which only ${known.join(", ")} is at the place of this volume: the map is neither used nor removed. Name all ways to the LUN in the source, or take the others out (multipathd del path ${stranger ?? "NAME"})`;
  throw new VolumeError("DeviceBusy", "transient", message, { on: { kind: "Device", name: `/dev/${first.device}` } });
}

/**
 * PURE. While a device is mounted nothing else gets its number: what is found then is what was mounted.
 * @param paths to the LUN, as they are now
 * @throws VolumeError DiskNotFound
 */
export function refuseOther(device: LunDevice, paths: readonly ScsiDisk[], what: string): void {
  const isMap = mapOver(paths)?.deviceNumber === device.deviceNumber;
  const same = paths.filter(({ deviceNumber }) => isMap || deviceNumber === device.deviceNumber);
  if (same.length > 0 && same.every(({ lasting }) => lasting === device.lasting)) return;
  const message = `/dev/${device.name} is no longer ${what}: it is searched again`;
  throw new VolumeError("DiskNotFound", "transient", message, { on: { kind: "Device", name: `/dev/${device.name}` } });
}
