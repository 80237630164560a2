import { execFileSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";

/** A block device of a file. The kernel takes it back when nobody has it open or mounted any more. */
export interface LoopDevice extends Disposable {
  readonly path: string;
}

/**
 * @param directory where the backing file is made
 * @param options of losetup(8)
 */
export function loopDevice(
  directory: string,
  name: string,
  megabytes: number,
  ...options: readonly string[]
): LoopDevice {
  const file = join(directory, name);
  execFileSync("truncate", ["-s", `${megabytes}M`, file]);
  const path = execFileSync("losetup", ["--find", "--show", ...options, file], { encoding: "utf8" }).trim();
  const held = openSync(path, "r");
  execFileSync("losetup", ["--detach", path]); // it is held open: this only marks it to go by itself
  return { path, [Symbol.dispose]: () => closeSync(held) };
}
