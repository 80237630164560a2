import { VolumeError } from "../errors.ts";
import type { Disk } from "../host/disk.ts";
import type { LogicalVolumeName } from "../host/layers.ts";
import type { DeviceInfo } from "../host/ports.ts";
import { howToDestroy } from "./local-device.ts";
import type { VolumeSpec } from "./plugin.ts";

/** PURE. As LVM writes it. */
export function textOf({ volumeGroup, logicalVolume }: LogicalVolumeName): string {
  return `${volumeGroup}/${logicalVolume}`;
}

/** PURE. */
export function volumeMissing(volume: LogicalVolumeName): VolumeError {
  const message = `the volume group ${volume.volumeGroup} has no logical volume ${volume.logicalVolume}: say in capacity of the set how large to make it, or correct its name`;
  return new VolumeError("SourceNotFound", "final", message, { on: { kind: "LogicalVolume", name: textOf(volume) } });
}

/** PURE. */
export function volumeHidden(volume: LogicalVolumeName): VolumeError {
  const message = `${textOf(volume)} is a part of another volume (a pool, or what one is made of), not one to use: correct local.lvm.logicalVolume`;
  return new VolumeError("SourceWrongType", "final", message, { on: { kind: "LogicalVolume", name: textOf(volume) } });
}

/** PURE. What is on a device is no LUKS header. */
export function notEncrypted(spec: VolumeSpec, disk: Disk | undefined, device: DeviceInfo): VolumeError {
  const message = `${device.path} has ${device.signature}, but encryption is asked for; it is not formatted again${howToDestroy(spec, disk, device)}`;
  return new VolumeError("FilesystemMismatch", "final", message, { on: { kind: "Device", name: device.path } });
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
