import { closeSync, existsSync, openSync, readdirSync, realpathSync } from "node:fs";
import { basename, dirname } from "node:path";
import koffi from "koffi";
import { deviceNumberOf } from "../syscall/block-device.ts";
import { IOCTL } from "../syscall/constants.ts";
import { Errno, unlessErrno } from "../syscall/errno.ts";
import { loop_info64 } from "../syscall/layouts.ts";

/**
 * Loop devices that are made of a block device, by name. No process has that open then, and nobody has claimed it:
 * kubelet makes one on each volume of volumeMode Block that it maps.
 * @param path a node of the device, beside which those of loop devices may be
 */
export function loopsOn(deviceNumber: string, path: string): readonly string[] {
  const used = readdirSync("/sys/block").filter((name) => existsSync(`/sys/block/${name}/loop/backing_file`));
  if (used.length === 0) return [];
  const ioctl = ioctlOf();
  return used.filter((name) => backingNumber(ioctl, [`${dirname(path)}/${name}`, `/dev/${name}`]) === deviceNumber);
}

/**
 * `major:minor` of the block device that a loop device is made of; undefined if it is made of a file, or is none.
 * @param nodes where its node may be
 */
export function deviceBeneath(...nodes: readonly string[]): string | undefined {
  return backingNumber(ioctlOf(), nodes);
}

/**
 * The block device that a loop device, or the loop device that a partition is on, is a second name of: as
 * `deviceBeneath`.
 * @param path a node of the device, beside which that of its loop device may be
 */
export function aliasedBy(deviceNumber: string, path: string): string | undefined {
  const self = realpathSync(`/sys/dev/block/${deviceNumber}`);
  const disk = existsSync(`${self}/partition`) ? dirname(self) : self;
  if (!existsSync(`${disk}/loop/backing_file`)) return undefined;
  const node = disk === self ? path : `${dirname(path)}/${basename(disk)}`;
  return backingNumber(ioctlOf(), [node, `/dev/${basename(disk)}`]);
}

type Ioctl = (...args: unknown[]) => number;

function ioctlOf(): Ioctl {
  return koffi.load(null).func("ioctl", "int", ["int", "ulong", "void *"]);
}

function backingNumber(ioctl: Ioctl, nodes: readonly string[]): string | undefined {
  const fd = openFirst(nodes);
  if (fd === undefined) return undefined;
  try {
    const status = Buffer.alloc(loop_info64.bytes);
    if (ioctl(fd, IOCTL.LOOP_GET_STATUS64, status) < 0) {
      const error = new Errno("ioctl", koffi.errno());
      if (error.code === "ENXIO") return undefined;
      throw error;
    }
    // Of this field's 64 bits the kernel fills 32 (huge_encode_dev is new_encode_dev): the number as stat(2) has it.
    const rdev = status.readUInt32LE(loop_info64.lo_rdevice);
    return rdev === 0 ? undefined : deviceNumberOf({ rdev });
  } finally {
    closeSync(fd);
  }
}

/** A node that is not there, or is of a device that has gone, is passed over. */
function openFirst(nodes: readonly string[]): number | undefined {
  for (const node of nodes) {
    const fd = unlessErrno(["ENOENT", "ENXIO", "ENODEV"], () => openSync(node, "r"));
    if (fd !== undefined) return fd;
  }
  return undefined;
}
