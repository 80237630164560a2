// Loop devices. What is attached the kernel says (/sys/block/loop*/loop/backing_file), so that a killed driver forgets
// nothing.
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface Device {
  /** /dev/loopN */
  readonly path: string;
  /** major:minor */
  readonly number: string;
}

export class Devices {
  /** The device whose bytes a file has; undefined if there is none. */
  of(file: string): Device | undefined {
    const loops = readdirSync("/sys/block").filter((entry) => entry.startsWith("loop"));
    const name = loops.find((entry) => isOf(file, read(`/sys/block/${entry}/loop/backing_file`)));
    if (name === undefined) return undefined;
    return { path: `/dev/${name}`, number: read(`/sys/block/${name}/dev`) ?? "" };
  }

  /** Idempotent; one call for a file at a time. */
  async attach(file: string, readOnly: boolean): Promise<Device> {
    const known = this.of(file);
    if (known !== undefined) return known;
    const path = (await run("losetup", ["--find", "--show", ...(readOnly ? ["--read-only"] : []), file])).stdout.trim();
    return { path, number: read(`/sys/block/${basename(path)}/dev`) ?? "" };
  }

  /** At once if nobody has it open or mounted, else when the last user goes. */
  async detach(device: Device): Promise<void> {
    await run("losetup", ["--detach", device.path]);
  }

  /** Has the kernel look at the size of the file again. @returns bytes */
  async grow(device: Device): Promise<number> {
    await run("losetup", ["--set-capacity", device.path]);
    return this.size(device);
  }

  /** Bytes. */
  size(device: Device): number {
    return Number(read(`/sys/block/${basename(device.path)}/size`)) * 512;
  }
}

/**
 * The kernel tells the whole path as long as the mount namespace lasts in which the file was opened, which is a
 * driver's own; when that was killed, the path from the root of the file's file system.
 */
function isOf(file: string, told: string | undefined): boolean {
  return told?.includes("/nodes/") === true && file.endsWith(told);
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trimEnd();
  } catch {
    return undefined; // it went while we looked
  }
}
