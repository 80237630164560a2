import { closeSync, constants, writeSync } from "node:fs";
import { VolumeError } from "../../../errors.ts";
import type { FilesystemMount } from "../../ports/host-ports.ts";
import type { ExpectedDevice, HeldDevice, WrittenDevice } from "../child/child-protocol.ts";
import { isExpectedDevice } from "../child/expected-device.ts";
import { remoteMountsSeen } from "../evidence/remote-mounts.ts";
import { Descriptor } from "../syscall/descriptor.ts";
import { loadLibc } from "../syscall/libc.ts";
import { refuseUsed } from "./device-users.ts";
import { openProved, openUnchanged, type RefuseUsed } from "./device-writes.ts";

/**
 * The descriptor by which the program has a device that it is to find by its path: neither Node nor a program uses it.
 */
const held = 199;

/**
 * Fails if anybody has a device, as it is now.
 * @param keeps whether what is on it stays: who only reads it does not count then
 */
export async function refusing(keeps = false): Promise<RefuseUsed> {
  const remote = await remoteMountsSeen();
  return (device) => refuseUsed(loadLibc(), device, remote, keeps);
}

/** Holds the device, and puts what the program is to read into a pipe, which has room for it. */
export async function prepare(
  device: HeldDevice | undefined,
  input: string | undefined,
  meant: ExpectedDevice | undefined,
): Promise<void> {
  const libc = loadLibc();
  if (meant !== undefined && !isExpectedDevice(meant)) {
    throw new VolumeError("DeviceBusy", "transient", `${meant.file} is not of ${meant.text} any more`);
  }
  if (device !== undefined) {
    const refuse = await refusing(device.keeps);
    const { stands } = device;
    const fd =
      stands === "anything"
        ? openProved(device, constants.O_RDONLY, refuse)
        : openUnchanged(device, stands.contents, refuse);
    libc.dup2(fd, held);
  }
  if (input === undefined) return;
  const pipe = libc.pipe();
  writeSync(pipe.write, Buffer.from(input, "base64"));
  closeSync(pipe.write);
  libc.dup2(pipe.read, 0);
}

/**
 * The device as standard input, which mkfs and e2fsck open anew: while that is held, no other disk gets its number.
 * Node has lost its own with that, and aborts if it is to end by itself: runChild has it exit.
 */
function asInput(fd: number): void {
  loadLibc().dup2(fd, 0);
}

/**
 * Proves that a device is the one that was looked at, without writing to it, and leaves its descriptor as the child's
 * standard input.
 * @throws VolumeError DeviceBusy, DeviceNotEmpty, SetUpFailed
 */
export async function checkAs(device: WrittenDevice): Promise<void> {
  asInput(openProved(device, constants.O_RDONLY, await refusing(true)));
}

/** The device, if any, of a file system that is about to be mounted: while it is held no other disk gets its number. */
export async function holdDevice({ source, device }: FilesystemMount): Promise<Descriptor | undefined> {
  if (device === undefined) return undefined;
  return new Descriptor(openProved({ path: source, ...device }, constants.O_RDONLY, await refusing(true)));
}

/** @param contents what stands there, of a file system that was begun; undefined if that is nothing */
export async function formatAs(device: WrittenDevice, contents: string | undefined): Promise<void> {
  asInput(openUnchanged(device, contents, await refusing()));
}
