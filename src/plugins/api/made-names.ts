import { VolumeError } from "../../errors.ts";
import { chosenOf, isSameDisk } from "./disk-choice.ts";
import type { FoundSource, StageContext } from "./volume-plugin.ts";

/**
 * Links that udev makes of where a disk is, or of what it says of itself; /dev/rbd of pool and image, /dev/drbd/by-res
 * of a resource in DRBD's configuration; /dev/etherd has the kernel's own names.
 */
const madeOfDisks =
  /^\/dev\/(disk\/by-path\/|disk\/by-id\/(wwn|scsi|nvme|ata|dm-uuid-mpath)-|rbd\/|drbd\/by-res\/|etherd\/)/;

/** PURE. Whether a path is the kernel's name of the device, or a link that nothing on it can make. */
function isNameOfDisk(path: string, found: FoundSource): boolean {
  const [, name] = /^\/dev\/([^/]+)$/.exec(path) ?? [];
  return madeOfDisks.test(path) || (name !== undefined && found.path.endsWith(`/${name}`));
}

/**
 * Who can write to a disk can have it linked by any other name (a label, a UUID, a volume group), in place of the disk
 * that is meant. The disk that the volume has already may be named so, and what is mounted is followed to nowhere.
 * @throws VolumeError SourceWrongType
 */
export async function refuseMadeName(path: string, found: FoundSource, context: StageContext): Promise<void> {
  const { kind, deviceNumber } = found;
  if (kind !== "blockDevice" || deviceNumber === undefined || isNameOfDisk(path, found)) return;
  if (context.stagingMount !== undefined) return;
  const attributes = await context.devices.attributes(deviceNumber);
  const { attached } = attributes;
  if (attached === undefined) return;
  const now = chosenOf({ name: found.path, ...attributes }, undefined);
  if (context.disk !== undefined && isSameDisk(context.disk, now)) return;
  const message = `${path} leads to ${found.path}, which is attached by ${attached}: who can write to that disk can have it found by any label, UUID and name of a volume. Name it by /dev/disk/by-path, or by-id with wwn-, scsi-, nvme-, ata- or dm-uuid-mpath-`;
  throw new VolumeError("SourceWrongType", "final", message, { on: { kind: "Path", name: path } });
}
