import { closeSync, constants, fstatSync, fsyncSync, openSync, realpathSync, writeFileSync } from "node:fs";
import { VolumeError } from "../../../errors.ts";
import type { RemovedDisk } from "../child/child-protocol.ts";
import { claimsOf } from "../device/block-claims.ts";
import { openText, possibleKernelUsers } from "../device/device-users.ts";
import { openersOf } from "../evidence/open-devices.ts";
import type { RemoteMounts } from "../evidence/remote-mounts.ts";
import { attribute, deviceNumberOf } from "../syscall/block-device.ts";
import { errnoOf, unlessErrno } from "../syscall/errno.ts";
import type { Libc } from "../syscall/libc.ts";
import { ownMounts } from "../syscall/proc.ts";

/** Errors of an open that come only after it has found nobody's claim: the path or the disk has failed. */
const unclaimed = ["EIO", "ENXIO", "ENODEV", "ENOMEDIUM", "ETIMEDOUT"];

/**
 * Claims the disk, so that from here on nobody else can, proves that it is the one that was looked at, writes out what
 * is to be written, and has the kernel forget it. What cannot be written any more, because the path is dead, is lost
 * either way. A disk that is used as it is, nobody has claimed, but somebody has open.
 * @throws VolumeError DeviceBusy, SetUpFailed
 */
export function removeScsiDisk(libc: Libc, disk: RemovedDisk, remote: RemoteMounts): void {
  const place = placeOf(disk.deviceNumber);
  if (place === undefined) return;
  const fd = claim(disk);
  try {
    const at = new RegExp(`/${disk.address}/block/[^/]+$`);
    const device = `${place}/device`;
    if (!at.test(place) || (disk.wwid !== undefined && attribute(`${device}/wwid`) !== disk.wwid)) {
      const message = `${disk.path} is another disk than when it was checked: it stays on the node`;
      throw new VolumeError("SetUpFailed", "transient", message);
    }
    const partitions = claimsOf(disk.deviceNumber).partitions.map(({ deviceNumber }) => deviceNumber);
    const numbers = [disk.deviceNumber, ...partitions];
    const openers = openersOf(libc, numbers, process.pid, remote, process.ppid);
    if (openers.length > 0) throw new VolumeError("DeviceBusy", "transient", openText(disk.path, openers));
    const inKernel = possibleKernelUsers(numbers, disk.path, ownMounts());
    if (inKernel !== undefined) {
      throw new VolumeError("DeviceBusy", "transient", inKernel.text, { heldBy: inKernel.heldBy });
    }
    if (disk.stays === true) return;
    if (fd !== undefined) unlessErrno(unclaimed, () => fsyncSync(fd));
    writeFileSync(`${device}/delete`, "1");
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** The disk's directory in sysfs; undefined if it is gone. */
function placeOf(deviceNumber: string): string | undefined {
  return unlessErrno(["ENOENT"], () => realpathSync(`/sys/dev/block/${deviceNumber}`));
}

/** @returns undefined if it cannot be opened because it has failed */
function claim({ path, deviceNumber }: RemovedDisk): number | undefined {
  try {
    const fd = openSync(path, constants.O_RDONLY | constants.O_EXCL | constants.O_NONBLOCK);
    const number = deviceNumberOf(fstatSync(fd));
    if (number === deviceNumber) return fd;
    closeSync(fd);
    throw new VolumeError("SetUpFailed", "transient", `${path} stands for ${number}, not for ${deviceNumber}`);
  } catch (error) {
    const code = errnoOf(error) ?? "";
    if (unclaimed.includes(code)) return undefined;
    if (code !== "EBUSY") throw error;
    const message = `${path} is in use: mounted, or part of swap, RAID, LVM or a multipath map. It stays on the node until it is not`;
    throw new VolumeError("DeviceBusy", "transient", message);
  }
}
