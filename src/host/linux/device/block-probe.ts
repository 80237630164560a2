import { createHash, type Hash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import type { BlockProbe, DeviceUsers } from "../child/child-protocol.ts";
import { deviceNumberOf, forgetCached } from "../syscall/block-device.ts";
import { errnoOf } from "../syscall/errno.ts";
import type { DeviceInQuestion } from "./device-users.ts";
import { headBytes, isJournalElsewhere, needsJournalRecovery } from "./journal-recovery.ts";
import { type Region, sampledRegions } from "./sampled-regions.ts";
import { swapBytes } from "./swap-commands.ts";

/**
 * @param path a device node
 * @param usersOf who has the device with this number
 */
export function probeBlockDevice(
  path: string,
  usersOf: (device: DeviceInQuestion) => DeviceUsers | undefined,
): BlockProbe {
  const claimed = isClaimed(path); // for an instant: whoever is about to mount it is not refused while it is read
  const fd = openSync(path, constants.O_RDONLY);
  try {
    if (!claimed) forgetCached(fd); // what is mounted is no empty disk, and its cache is wanted
    const head = Buffer.alloc(headBytes);
    const read = readSync(fd, head, 0, head.length, 0);
    const begins = head.subarray(0, read);
    const journal = {
      journalLeft: needsJournalRecovery(begins),
      ...(isJournalElsewhere(begins) && { journalElsewhere: true as const }),
    };
    const swap = swapBytes(begins);
    const contents = readContents(fd);
    const deviceNumber = deviceNumberOf(fstatSync(fd));
    const users = usersOf({ path, deviceNumber, claimed });
    return { ...contents, ...journal, ...(swap !== undefined && { swapBytes: swap }), ...(users && { users }) };
  } finally {
    closeSync(fd);
  }
}

/** @param fd an open device */
export function readContents(fd: number): Pick<BlockProbe, "sizeBytes" | "digest"> {
  const sizeBytes = sizeOf(fd);
  const hash = createHash("sha256").update(`${sizeBytes}`);
  let zeros = true;
  for (const region of sampledRegions(sizeBytes)) zeros = digestInto(hash, fd, region) && zeros;
  return zeros ? { sizeBytes } : { sizeBytes, digest: hash.digest("hex").slice(0, 16) };
}

/**
 * Errors of an open that the kernel gives only after it has found nobody's claim: the device has failed, or is gone.
 */
const unclaimed = ["EIO", "ENXIO", "ENODEV", "ENOMEDIUM"];

/** Whether somebody has it open exclusively. Nothing is read: a disk that has failed is as free as one that works. */
export function isClaimed(path: string): boolean {
  try {
    closeSync(openSync(path, constants.O_RDONLY | constants.O_EXCL));
    return false;
  } catch (error) {
    const code = errnoOf(error) ?? "";
    if (code === "EBUSY") return true;
    if (unclaimed.includes(code)) return false;
    throw error;
  }
}

/** stat gives 0 for a device: its end is where no byte can be read any more, found by halving. */
export function sizeOf(fd: number): number {
  const { size } = fstatSync(fd);
  if (size > 0) return size;
  const byte = Buffer.alloc(1);
  const readable = (position: number) => readSync(fd, byte, 0, 1, position) === 1;
  let low = 0;
  let high = 1;
  if (!readable(0)) return 0;
  while (readable(high)) {
    low = high;
    high *= 2;
  }
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (readable(middle)) low = middle;
    else high = middle;
  }
  return high;
}

const atOnce = 1024 * 1024;
const nothing = Buffer.alloc(atOnce);

/** @returns whether nothing but zeros stands there */
function digestInto(hash: Hash, fd: number, { from, to }: Region): boolean {
  const buffer = Buffer.alloc(Math.min(atOnce, to - from));
  let zeros = true;
  for (let at = from; at < to; ) {
    const length = readSync(fd, buffer, 0, Math.min(buffer.length, to - at), at);
    if (length === 0) return false; // not all of it could be read: nothing is proved
    const part = buffer.subarray(0, length);
    hash.update(part);
    zeros &&= part.equals(nothing.subarray(0, length));
    at += length;
  }
  return zeros;
}
