import { VolumeError } from "../../errors.ts";
import type { ScsiDisk } from "../../host/ports/scsi.ts";
import type { StageContext, Staged, VolumeSpec } from "../api/volume-plugin.ts";
import { foundSource } from "../host/found-source.ts";
import { stagedPath } from "../host/host-path.ts";
import { stageDevice } from "../local/local-device.ts";
import { requireGrantIfShared } from "../local/shared-disk.ts";
import { deviceOf, type LunDevice, refuseOther } from "./device-of.ts";

/** A LUN that is on the node. */
export interface FoundLun {
  /** At least one, and all of the same disk. */
  readonly paths: readonly ScsiDisk[];
  /** For people. */
  readonly name: string;
  readonly readOnly: boolean;
  /** The paths to it, as they are now. */
  look(): Promise<readonly ScsiDisk[]>;
}

/**
 * Mounts or binds a LUN, by the map of its paths where there is one.
 * @param spec with the file system that the source names
 * @throws VolumeError
 */
export async function useLun(spec: VolumeSpec, lun: FoundLun, context: StageContext): Promise<Staged> {
  const { mounter, hostRoot, found: before } = context;
  const device = await deviceOf(lun.paths, () => lun.look(), context);
  const { name, deviceNumber } = device;
  const path = `/dev/${name}`;
  const info = await mounter.inspect({ root: hostRoot, path });
  if (info?.deviceNumber !== deviceNumber) {
    const message = `${path} is not ${deviceNumber}, ${lun.name}, on the node yet: it is searched again`;
    throw new VolumeError("DiskNotFound", "transient", message, { on: { kind: "Device", name: path } });
  }
  const found = { ...foundSource(path, info, context), deviceNumber };
  const isBlock = spec.volumeMode === "Block";
  // Of a raw device that is there, whatever a pod has made of it claims it.
  if (!isBlock || before?.deviceNumber !== deviceNumber) await refuseClaimed(device, context);
  const still = async () => refuseOther(device, await lun.look(), lun.name);
  if (!isBlock) return stageDevice(spec, found, context, { readOnly: lun.readOnly, still });
  await requireGrantIfShared(await context.devices.attributes(deviceNumber), context);
  await still();
  const kind = "device";
  await context.record({ kind, path: found.path, found, deviceNumber });
  return { ...stagedPath(info, found), kind, deviceNumber };
}

/** Also of paths that are not used: each is a device of its own to the kernel, which keeps nobody off the others. */
async function refuseClaimed({ ways }: LunDevice, { devices, hostRoot }: StageContext): Promise<void> {
  for (const { name, deviceNumber } of ways) {
    const claim = await devices.claim(`${hostRoot === "/" ? "" : hostRoot}/dev/${name}`, deviceNumber);
    if (claim === undefined) continue;
    throw new VolumeError("DeviceBusy", "transient", claim, { on: { kind: "Device", name: `/dev/${name}` } });
  }
}
