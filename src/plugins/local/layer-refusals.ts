import { VolumeError } from "../../errors.ts";
import type { LogicalVolumeInfo, LogicalVolumeName } from "../../host/ports/block-layers.ts";
import type { Disk } from "../../host/ports/disk.ts";
import type { DeviceInfo } from "../../host/ports/host-ports.ts";
import { sourceDiffers } from "../api/source-differs.ts";
import type { VolumeSpec } from "../api/volume-plugin.ts";
import { howToDestroy } from "./local-device.ts";
import { randomUUIDOf } from "./local-teardown.ts";

/** PURE. As LVM writes it. */
export function textOf({ volumeGroup, logicalVolume }: LogicalVolumeName): string {
  return `${volumeGroup}/${logicalVolume}`;
}

/** PURE. */
export function volumeMissing(volume: LogicalVolumeName): VolumeError {
  const message = `the volume group ${volume.volumeGroup} has no logical volume ${volume.logicalVolume}: set its size in capacity of the set, or correct its name`;
  return new VolumeError("SourceNotFound", "final", message, { on: { kind: "LogicalVolume", name: textOf(volume) } });
}

/**
 * Another has its name: any disk that the node has been given may say that it is of this group.
 * @param before LogicalVolumeInfo.identity of the one that the volume had; undefined if it had none
 * @throws VolumeError SourceDiffers
 */
export function refuseOtherVolume(
  volume: LogicalVolumeName,
  now: Pick<LogicalVolumeInfo, "identity"> | undefined,
  before: string | undefined,
): void {
  if (before === undefined || (now !== undefined && (now.identity ?? before) === before)) return;
  const is =
    now === undefined ? "is not there any more" : `is another one now (UUIDs of group and volume: ${now.identity})`;
  const what = `${textOf(volume)} ${is}; the volume was set up with ${before}: it is neither used nor made anew`;
  throw sourceDiffers(what, `Bring back ${before}`, { kind: "LogicalVolume", name: textOf(volume) });
}

/** PURE. */
export function volumeHidden(volume: LogicalVolumeName): VolumeError {
  const message = `${textOf(volume)} is a part of another volume (a pool, or what one is made of), not one to use: correct local.lvm.logicalVolume`;
  return new VolumeError("SourceWrongType", "final", message, { on: { kind: "LogicalVolume", name: textOf(volume) } });
}

/** PURE. What is on a device is no LUKS header. */
export function notEncrypted(spec: VolumeSpec, disk: Disk | undefined, device: DeviceInfo): VolumeError {
  const message = `${device.path} has ${device.signature}, but encryption is specified; it is not formatted again${howToDestroy(spec, disk, device)}`;
  return new VolumeError("FilesystemMismatch", "final", message, { on: { kind: "Device", name: device.path } });
}

/**
 * PURE. Whether a device has the header that was made for the volume with a random key: nobody can open it, so it, and
 * what is behind it, are ours to write over.
 * @throws VolumeError DeviceNotEmpty: somebody may have the key of the header that is there
 */
export function isSpent(spec: VolumeSpec, disk: Disk | undefined, device: DeviceInfo): boolean {
  if (device.signature !== "crypto_LUKS") return false;
  if (device.uuid === randomUUIDOf(spec)) return true;
  const message = `${device.path} has a LUKS header that was not made for this volume with a random key: what is behind it would be lost${howToDestroy(spec, disk, device)}`;
  throw new VolumeError("DeviceNotEmpty", "final", message, { on: { kind: "Device", name: device.path } });
}

/**
 * PURE. Why a device gets no header; undefined if nothing is against it.
 * @param rest whether what is on it is the rest of what we began
 */
export function headerRefused(
  spec: VolumeSpec,
  disk: Disk | undefined,
  device: DeviceInfo,
  rest: boolean,
): VolumeError | undefined {
  const { path } = device;
  const on = { kind: "Device", name: path };
  if (!device.empty && !rest) {
    const message = `${path} has no LUKS header, but data: it is not formatted. Empty it by hand${howToDestroy(spec, disk, device)}`;
    return new VolumeError("DeviceNotEmpty", "final", message, { on });
  }
  if (spec.fsType !== undefined || spec.volumeMode === "Block") return undefined;
  const message = `${path} is empty: name the file system to make, encrypted, in fsType`;
  return new VolumeError("FilesystemMissing", "final", message, { on });
}
