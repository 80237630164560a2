import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import koffi from "koffi";
import { Errno, errnoOf } from "./errno.ts";

/** Bytes of the unit in which sysfs counts, whatever the disk's own is. */
export const sector = 512;

/** Where drivers of different kinds put the name that a disk keeps for life, relative to the disk's directory. */
const lastingNames = ["wwid", "device/wwid", "serial", "device/serial", "dm/uuid", "md/uuid"];

/**
 * The identity of a block device, which no later device under the same number has: number, size, and a name that the
 * disk itself has; if no disk has one, the kernel's count of disks of this boot (diskseq, Linux 5.15). For a partition
 * also its start.
 * @returns undefined if nothing identifies it
 */
export function deviceIdentity(deviceNumber: string, sizeBytes: number, bootID: string): string | undefined {
  const { disk, start } = placeOf(deviceNumber);
  const name = lastingName(disk);
  const sequence = attribute(`${disk}/diskseq`);
  if (name === undefined && sequence === "") return undefined;
  const which = name ?? `disk ${sequence} of boot ${bootID}`;
  return [deviceNumber, `${sizeBytes} bytes`, ...start, which].join(", ");
}

/** The name that a device keeps for life: of a partition the disk's, with where it begins. */
export function lastingNameOf(deviceNumber: string): string | undefined {
  const { disk, start } = placeOf(deviceNumber);
  const name = lastingName(disk);
  return name === undefined ? undefined : [name, ...start].join(", ");
}

function placeOf(deviceNumber: string): { readonly disk: string; readonly start: readonly string[] } {
  const self = realpathSync(`/sys/dev/block/${deviceNumber}`);
  if (!existsSync(`${self}/partition`)) return { disk: self, start: [] };
  return { disk: dirname(self), start: [`start ${attribute(`${self}/start`)}`] };
}

/**
 * The name that a disk keeps for life, wherever it is plugged in; undefined if it has none.
 * @param disk its directory in sysfs
 */
export function lastingName(disk: string): string | undefined {
  return lastingNames.map((file) => attribute(`${disk}/${file}`)).find((text) => text !== "");
}

/**
 * Whether a device, or the disk that it is a partition of, is made of memory.
 * @param sys /sys, or a made tree
 */
export function isMadeOfMemory(sys: string, deviceNumber: string): boolean {
  return /\/z?ram\d+(\/|$)/.test(realpathSync(`${sys}/dev/block/${deviceNumber}`));
}

/** Bytes, as sysfs has them. */
export function deviceSize(deviceNumber: string): number {
  return Number(attribute(`${realpathSync(`/sys/dev/block/${deviceNumber}`)}/size`)) * sector;
}

/** diskseq (Linux 5.15) of the disk that a block device is, or is a partition of; undefined if there is none. */
export function diskSequence(deviceNumber: string): string | undefined {
  const place = `/sys/dev/block/${deviceNumber}`;
  const disk = existsSync(`${place}/partition`) ? `${place}/..` : place;
  return attribute(`${disk}/diskseq`) || undefined;
}

/** An attribute of sysfs; "" if it is not there, or cannot be had from this device. */
export function attribute(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "EIO", "ENXIO", "EINVAL", "ENODATA"].includes(errnoOf(error) ?? "")) return "";
    throw error;
  }
}

/**
 * `major:minor` that a device node stands for, of what stat(2) says of it as glibc puts it together (gnu_dev_makedev).
 */
export function deviceNumberOf({ rdev }: { readonly rdev: number }): string {
  return `${(rdev >> 8) & 0xfff}:${(rdev & 0xff) | ((rdev >> 12) & 0xfff00)}`;
}

/** posix_fadvise(2) */
const dontNeed = 4;

/**
 * Has the kernel read a device anew, but for what is to be written to it still: while anybody on the node has it open,
 * the kernel keeps what it has read, and another node that reaches the same disk may have written to it since.
 */
export function forgetCached(fd: number): void {
  const advise = koffi.load(null).func("posix_fadvise", "int", ["int", "int64", "int64", "int"]) as (
    ...args: readonly number[]
  ) => number;
  const error = advise(fd, 0, 0, dontNeed);
  if (error !== 0) throw new Errno("posix_fadvise", error);
}
