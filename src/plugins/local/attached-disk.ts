import { VolumeError } from "../../errors.ts";
import type { Disk } from "../../host/ports/disk.ts";
import type { DeviceInfo } from "../../host/ports/host-ports.ts";
import { attachedReason } from "../api/attached-volume.ts";
import type { StageContext, VolumeSpec } from "../api/volume-plugin.ts";

/**
 * Refuses a device that a VolumeAttachment of the node may be of (decision 0119), by itself or by a disk beneath it,
 * before it is written to, and before it is mounted for the first time. One that the volume has already, with its
 * content, is mounted without an answer of a controller. Volume groups are named by people: they are not compared. No
 * VolumeAttachment brings memory (zram, ramdisks), which is empty in each boot: it needs no controller.
 * @param writes whether the content of the device is replaced now
 * @throws VolumeError DeviceBusy, which names driver, PersistentVolume and claim; DiskNotCompared until the controller
 *   has answered
 */
export async function refuseAttached(
  { source: { local } }: VolumeSpec,
  device: DeviceInfo,
  context: StageContext,
  { writes = false }: { readonly writes?: boolean } = {},
): Promise<void> {
  const { attachedVolumes, devices, hostRoot } = context;
  if (attachedVolumes === undefined || local === undefined || local.lvm !== undefined) return;
  if (device.endsWithBoot === true) return;
  if (!writes && context.disk !== undefined && device.signature !== undefined) return;
  const disks = await devices.disks(hostRoot);
  const { path, deviceNumber, beneath = [] } = device;
  const own = disks.filter((one) => one.deviceNumber === deviceNumber || beneath.includes(one.deviceNumber));
  const itself = own.some((one) => one.deviceNumber === deviceNumber) ? [] : [namedAs(device)];
  const volumes = await askAttached(attachedVolumes, own.length > 0 ? own : itself);
  const [found] = [...own, ...itself].flatMap((one) => attachedReason(one, volumes, { disks, named: true }) ?? []);
  if (found === undefined) return;
  const on = { kind: "VolumeAttachment", name: found.volume.volumeAttachment };
  throw new VolumeError("DeviceBusy", "transient", `${path} is busy: ${found.text}`, { on });
}

/** PURE. What a device that is no disk, such as a partition or a multipath map, is called itself. */
function namedAs({ path, deviceNumber, identity, lastingName, sequence }: DeviceInfo) {
  return {
    name: path.replace(/^.*\//, ""),
    deviceNumber,
    ...(identity !== undefined && { identity }),
    ...(lastingName !== undefined && { wwid: lastingName }),
    ...(sequence !== undefined && { sequence }),
  };
}

type Appearing = Pick<Disk, "deviceNumber" | "identity" | "sequence">;

/** The volumes that VolumeAttachments of the node name, listed after these disks were seen. @throws VolumeError */
export function askAttached(
  attachedVolumes: NonNullable<StageContext["attachedVolumes"]>,
  disks: readonly Appearing[],
): ReturnType<NonNullable<StageContext["attachedVolumes"]>> {
  return attachedVolumes(disks.map(appearance), { counted: disks.every(({ sequence }) => sequence !== undefined) });
}

/**
 * PURE. What tells a disk that is there from each that comes later, also from itself when it is attached again, if the
 * kernel counts disks.
 */
function appearance({ deviceNumber, identity, sequence }: Appearing): string {
  return [identity ?? deviceNumber, ...(sequence === undefined ? [] : [`disk ${sequence}`])].join(", ");
}
