import { execFileSync } from "node:child_process";
import { join } from "node:path";

/**
 * A block device of a file. Nobody has it open; once it is disposed of, the kernel takes it back when nobody has it
 * mounted any more.
 */
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
  return { path, [Symbol.dispose]: () => void execFileSync("losetup", ["--detach", path]) };
}
