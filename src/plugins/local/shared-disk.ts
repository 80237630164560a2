import { diskName } from "../../api/disk-name.ts";
import type { DeviceAttributes } from "../../host/ports/host-ports.ts";
import type { StageContext } from "../api/volume-plugin.ts";

/**
 * Nothing on a node tells who else has a disk that others may reach: the controller knows.
 * @throws VolumeError DiskNotCompared
 */
export async function requireGrantIfShared(
  { attached, lastingName }: DeviceAttributes,
  context: StageContext,
): Promise<void> {
  const name = attached === undefined || lastingName === undefined ? undefined : diskName(lastingName);
  if (name !== undefined) await context.requireDiskGrant(name);
}
