// The kernel's mounts, as the driver's namespace shows them: read by the driver itself, apart from the product's
// reader.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface Mounted {
  readonly path: string;
  /** major:minor of the file system. */
  readonly number: string;
  /** What of the file system is mounted there. */
  readonly root: string;
  readonly readOnly: boolean;
}

export function mounts(): Mounted[] {
  const lines = readFileSync("/proc/self/mountinfo", "utf8").trimEnd().split("\n");
  return lines.map((line) => {
    const [, , number = "", root = "", path = "", options = ""] = line.split(" ");
    return { path: unescaped(path), number, root, readOnly: options.split(",").includes("ro") };
  });
}

/**
 * Mounts the file system that a file has, by a loop device that goes with its last mount: mount(8) makes it so in one
 * call, and whoever is killed at any moment leaves none.
 */
export async function mountFile(file: string, path: string, options: readonly string[]): Promise<void> {
  await run("mount", ["-t", "xfs", "-o", ["loop", ...options].join(","), file, path]);
}

export async function bind(source: string, target: string): Promise<void> {
  await run("mount", ["--bind", source, target]);
}

/** This mount only: others of the same file system stay as they are. */
export async function makeReadOnly(path: string): Promise<void> {
  await run("mount", ["-o", "remount,bind,ro", path]);
}

/** Unmounts the topmost mount on a path. */
export async function unmount(path: string): Promise<void> {
  await run("umount", [path]);
}

function unescaped(text: string): string {
  return text.replace(/\\(\d{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}
