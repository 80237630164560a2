import { VolumeError } from "../../errors.ts";
import type { ScsiDisk, ScsiTree } from "../../host/ports/scsi.ts";
import type { TearDownContext } from "../api/teardown.ts";
import { mapOver } from "./device-of.ts";

/**
 * Detaches a LUN from the node: the map of its paths first, then each path, when nobody has them claimed. Idempotent.
 * @param pathsIn all paths to it that are the volume's
 * @throws VolumeError DeviceBusy, also of a map that is made of anything else
 */
export async function detachLun(
  pathsIn: (tree: ScsiTree) => readonly ScsiDisk[],
  context: TearDownContext,
): Promise<void> {
  const { scsi, hostRoot } = context;
  const paths = pathsIn(await scsi.look(hostRoot));
  const map = mapOver(paths);
  if (map !== undefined) await scsi.flushMap(map);
  for (const disk of paths) await scsi.remove(disk, hostRoot);
  const left = pathsIn(await scsi.look(hostRoot));
  const [first] = left;
  if (first === undefined) return;
  // One that has come back meanwhile, by a scan of somebody else, or is part of a new map.
  const message = `${left.map(({ name }) => `/dev/${name}`).join(", ")} came back while the LUN was taken off the node`;
  throw new VolumeError("DeviceBusy", "transient", message, { on: { kind: "Device", name: `/dev/${first.name}` } });
}
