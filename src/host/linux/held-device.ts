import { closeSync, constants, writeSync } from "node:fs";
import { VolumeError } from "../../errors.ts";
import { refuseUsed } from "./device-users.ts";
import { openEmpty, openProved, type RefuseUsed, type WrittenDevice } from "./device-writes.ts";
import { loadLibc } from "./libc.ts";
import { isMeant, type MeantDevice } from "./meant-device.ts";
import { remoteMountsSeen } from "./remote-mounts.ts";

/** The descriptor by which the program has a device that it is to find by its path: neither Node nor a program uses it. */
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
  device: (WrittenDevice & { readonly empty: boolean; readonly keeps?: true }) | undefined,
  input: string | undefined,
  meant: MeantDevice | undefined,
): Promise<void> {
  const libc = loadLibc();
  if (meant !== undefined && !isMeant(meant)) {
    throw new VolumeError("DeviceBusy", "transient", `${meant.file} is not of ${meant.text} any more`);
  }
  if (device !== undefined) {
    const refuse = await refusing(device.keeps);
    const { empty } = device;
    libc.dup2(empty ? openEmpty(device, refuse) : openProved(device, constants.O_RDONLY, refuse), held);
  }
  if (input === undefined) return;
  const pipe = libc.pipe();
  writeSync(pipe.write, Buffer.from(input, "base64"));
  closeSync(pipe.write);
  libc.dup2(pipe.read, 0);
}

/**
 * The device as standard input, which mkfs and e2fsck open anew: while that is held, no other disk gets its number. Node has lost its own
 * with that, and aborts if it is to end by itself: nothing is refused afterwards.
 */
function asInput(fd: number): void {
  loadLibc().dup2(fd, 0);
}

export async function checkAs(device: WrittenDevice): Promise<void> {
  asInput(openProved(device, constants.O_RDONLY, await refusing(true)));
}

export async function formatAs(device: WrittenDevice, rest: boolean): Promise<void> {
  const refuse = await refusing();
  asInput(rest ? openProved(device, constants.O_RDONLY, refuse) : openEmpty(device, refuse));
}
