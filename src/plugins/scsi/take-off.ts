import { VolumeError } from "../../errors.ts";
import type { ScsiDisk, ScsiTree } from "../../host/scsi.ts";
import type { UndoContext } from "../plugin.ts";
import { mapsOver } from "./device-of.ts";

/**
 * Takes a LUN off the node: the map of its paths first, then each path, when nobody has them claimed. Idempotent.
 * @param pathsIn the paths to it
 * @throws VolumeError DeviceBusy
 */
export async function takeOff(pathsIn: (tree: ScsiTree) => readonly ScsiDisk[], context: UndoContext): Promise<void> {
  const { scsi, hostRoot } = context;
  const paths = pathsIn(await scsi.look(hostRoot));
  for (const map of mapsOver(paths)) await scsi.flushMap(map);
  for (const disk of paths) await scsi.remove(disk, hostRoot);
  const left = pathsIn(await scsi.look(hostRoot));
  const [first] = left;
  if (first === undefined) return;
  // One that has come back meanwhile, by a scan of somebody else, or is part of a new map.
  const message = `${left.map(({ name }) => `/dev/${name}`).join(", ")} came back while the LUN was taken off the node`;
  throw new VolumeError("DeviceBusy", "transient", message, { on: { kind: "Device", name: `/dev/${first.name}` } });
}
