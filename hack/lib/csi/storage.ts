// The storage of loop-xfs: a folder that the drivers of all nodes share, with the record of all they did.
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface CSIStorage extends Disposable {
  readonly directory: string;
  /** Where drivers append what they were asked and did: one JSON line each. */
  readonly record: string;
  /** Where tests order faults. */
  readonly control: string;
  /** Loop devices of its volumes, on whatever node. */
  loops(): string[];
}

export function csiStorage(directory: string): CSIStorage {
  mkdirSync(directory, { recursive: true });
  return {
    directory,
    record: join(directory, "record.jsonl"),
    control: join(directory, "faults.json"),
    loops: () => loopsBeneath(directory),
    [Symbol.dispose]() {
      // A block volume that is still staged has one that nothing else ends; a mounted one goes with its last mount.
      for (const device of loopsBeneath(directory)) execFileSync("losetup", ["--detach", device]);
    },
  };
}

function loopsBeneath(directory: string): string[] {
  const names = readdirSync("/sys/block").filter((name) => name.startsWith("loop"));
  return names.filter((name) => isBeneath(directory, backingFile(name))).map((name) => `/dev/${name}`);
}

/**
 * The kernel tells the whole path, or, when the namespace is gone in which a file was opened, that within its file
 * system.
 */
function isBeneath(directory: string, file: string): boolean {
  const end = file.indexOf("/nodes/");
  return end > 0 && directory.endsWith(file.slice(0, end));
}

function backingFile(loop: string): string {
  try {
    return readFileSync(`/sys/block/${loop}/loop/backing_file`, "utf8");
  } catch {
    return ""; // not in use
  }
}
