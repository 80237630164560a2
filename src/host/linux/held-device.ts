import { closeSync, constants, writeSync } from "node:fs";
import { VolumeError } from "../../errors.ts";
import { refuseUsed } from "./device-users.ts";
import { isEmpty, openProved, type RefuseUsed, type WrittenDevice } from "./device-writes.ts";
import { loadLibc } from "./libc.ts";
import { isMeant, type MeantDevice } from "./meant-device.ts";
import { remoteMounts } from "./remote-mounts.ts";

/** The descriptor by which the program has a device that it is to find by its path: neither Node nor a program uses it. */
const held = 199;

/** Fails if anybody has a device, as it is now. */
export async function refusing(): Promise<RefuseUsed> {
  const remote = await remoteMounts();
  return (device) => refuseUsed(loadLibc(), device, remote);
}

/** Holds the device, and puts what the program is to read into a pipe, which has room for it. */
export async function prepare(
  device: (WrittenDevice & { readonly empty: boolean }) | undefined,
  input: string | undefined,
  meant: MeantDevice | undefined,
): Promise<void> {
  const libc = loadLibc();
  if (meant !== undefined && !isMeant(meant)) {
    throw new VolumeError("DeviceBusy", "transient", `${meant.file} is not of ${meant.text} any more`);
  }
  if (device !== undefined) {
    const fd = openProved(device, constants.O_RDONLY, await refusing());
    if (device.empty && !isEmpty(fd)) {
      throw new VolumeError("DeviceNotEmpty", "transient", `${device.path} is not empty any more`);
    }
    libc.dup2(fd, held);
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
export async function asInput(device: WrittenDevice, prove: (fd: number) => void = () => {}): Promise<void> {
  const fd = openProved(device, constants.O_RDONLY, await refusing());
  prove(fd);
  loadLibc().dup2(fd, 0);
}

export function formatAs(device: WrittenDevice, rest: boolean): Promise<void> {
  return asInput(device, (fd) => {
    if (rest || isEmpty(fd)) return;
    throw new VolumeError("DeviceNotEmpty", "transient", `${device.path} is not empty any more`);
  });
}
