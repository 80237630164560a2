import { closeSync, constants, fstatSync, fsyncSync, openSync, writeSync } from "node:fs";
import { VolumeError } from "../../../errors.ts";
import type { WrittenDevice } from "../child/child-protocol.ts";
import { deviceIdentity, deviceNumberOf, forgetCached } from "../syscall/block-device.ts";
import { errnoOf } from "../syscall/errno.ts";
import { bootID } from "../syscall/proc.ts";
import { readContents, sizeOf } from "./block-probe.ts";
import type { DeviceInQuestion } from "./device-users.ts";
import { type Region, sampledRegions } from "./sampled-regions.ts";

/** Fails with DeviceBusy if anybody has the device. */
export type RefuseUsed = (device: DeviceInQuestion) => void;

/**
 * Opens a device that nobody has, and proves that it is the one that was looked at. While the descriptor is held no
 * other disk gets its number: what is proved now holds for what is done by it.
 * @throws VolumeError DeviceBusy, SetUpFailed
 */
export function openProved(device: WrittenDevice, flags: number, refuseUsed: RefuseUsed): number {
  const { path, deviceNumber } = device;
  const exclusive = (flags & constants.O_EXCL) !== 0;
  const refuse = () => refuseUsed({ path, deviceNumber, claimed: true });
  const fd = exclusive ? exclusively(path, flags, refuse) : openSync(path, flags);
  try {
    if (!exclusive) closeSync(exclusively(`/proc/self/fd/${fd}`, constants.O_RDONLY | constants.O_EXCL, refuse));
    prove(fd, device);
    forgetCached(fd);
    refuseUsed({ path, deviceNumber, claimed: false });
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/**
 * The same of a device on which something is to be made.
 * @param contents what it was seen to have (BlockProbe.digest): undefined if that is nothing
 * @throws VolumeError DeviceBusy, DeviceNotEmpty, SetUpFailed
 */
export function openUnchanged(device: WrittenDevice, contents: string | undefined, refuseUsed: RefuseUsed): number {
  const fd = openProved(device, constants.O_RDONLY, refuseUsed);
  try {
    if (readContents(fd).digest !== contents) {
      const message = contents === undefined ? "is not empty any more" : "has other contents than when it was checked";
      const advice = "somebody writes to it. Find out who, or name another device; it is checked again";
      throw new VolumeError("DeviceNotEmpty", "transient", `${device.path} ${message}: ${advice}`);
    }
    // Who has opened it while it was read, for seconds perhaps, writes where that was read already.
    refuseUsed({ ...device, claimed: false });
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/**
 * Overwrites with zeros the places of a device where file systems and partition tables begin, end and have copies, if
 * its contents are the ones that were inspected. The beginning is last: if this is cut off, the signature is still
 * there.
 * @param digest of the inspected contents (BlockProbe)
 * @throws VolumeError DeviceNotEmpty
 */
export function wipe(device: WrittenDevice, digest: string, refuseUsed: RefuseUsed): void {
  const fd = openProved(device, constants.O_RDWR | constants.O_EXCL, refuseUsed);
  try {
    const found = readContents(fd);
    if (found.digest !== digest) {
      const message = `the content of ${device.path} has changed since it was checked: it is not destroyed`;
      throw new VolumeError("DeviceNotEmpty", "final", message);
    }
    refuseUsed({ ...device, claimed: false }); // once more, for the same reason as in openUnchanged
    const [beginning, ...rest] = sampledRegions(found.sizeBytes);
    for (const { from, to } of rest) zero(fd, from, to);
    fsyncSync(fd);
    if (beginning !== undefined) zeroBackwards(fd, beginning);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Of a device that is looked at whole this is all of it. */
function zeroBackwards(fd: number, { from, to }: Region): void {
  const part = 1024 * 1024;
  for (let at = to; at > from; at = Math.max(from, at - part)) {
    if (at - part <= from) fsyncSync(fd);
    zero(fd, Math.max(from, at - part), at);
  }
}

function zero(fd: number, from: number, to: number): void {
  const zeros = Buffer.alloc(1024 * 1024);
  for (let at = from; at < to; ) at += writeSync(fd, zeros, 0, Math.min(zeros.length, to - at), at);
}

/** @param refuse fails, as somebody has claimed it */
function exclusively(path: string, flags: number, refuse: () => void): number {
  try {
    return openSync(path, flags);
  } catch (error) {
    if (errnoOf(error) === "EBUSY") refuse();
    throw error;
  }
}

function prove(fd: number, { path, deviceNumber, identity }: WrittenDevice): void {
  const number = deviceNumberOf(fstatSync(fd));
  const now = number === deviceNumber ? deviceIdentity(number, sizeOf(fd), bootID()) : undefined;
  if (number === deviceNumber && (identity === undefined || now === identity)) return;
  const message = `${path} is another device than when it was checked (${now ?? number}, not ${identity ?? deviceNumber}): nothing is written to it`;
  throw new VolumeError("SetUpFailed", "transient", message);
}
