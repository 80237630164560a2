import { VolumeError } from "../../errors.ts";
import type { Disk } from "../../host/ports/disk.ts";
import type { DeviceInfo } from "../../host/ports/host-ports.ts";
import { attachedReason } from "../api/attached-volume.ts";
import type { StageContext, VolumeSpec } from "../api/volume-plugin.ts";

/**
 * Refuses a device that a VolumeAttachment of the node may be of (decision 0119), before it is written to, and before
 * it is mounted for the first time. One that the volume has already, with its content, needs no answer of a controller.
 * @throws VolumeError DeviceBusy, which names driver, PersistentVolume and claim; DiskNotCompared until the controller
 *   has answered
 */
export async function refuseAttached({ source }: VolumeSpec, device: DeviceInfo, context: StageContext): Promise<void> {
  const { attachedVolumes, devices, hostRoot } = context;
  if (attachedVolumes === undefined || source.local === undefined) return;
  if (context.disk !== undefined && device.signature !== undefined) return;
  const disks = await devices.disks(hostRoot);
  const { path, deviceNumber, wholeDisk = deviceNumber, identity, lastingName } = device;
  const disk = disks.find((one) => one.deviceNumber === wholeDisk) ?? {
    name: path.replace(/^.*\//, ""),
    deviceNumber,
    ...(identity !== undefined && { identity }),
    ...(lastingName !== undefined && { wwid: lastingName }),
  };
  const volumes = await attachedVolumes([appearance(disk)]);
  const found = attachedReason(disk, volumes, { disks, named: true });
  if (found === undefined) return;
  const on = { kind: "VolumeAttachment", name: found.volume.volumeAttachment };
  throw new VolumeError("DeviceBusy", "transient", `${path} is busy: ${found.text}`, { on });
}

/** PURE. What tells a disk that is there from each that comes later, also from itself when it is attached again. */
export function appearance({
  deviceNumber,
  identity,
  sequence,
}: Pick<Disk, "deviceNumber" | "identity" | "sequence">): string {
  return [identity ?? deviceNumber, ...(sequence === undefined ? [] : [`disk ${sequence}`])].join(", ");
}
