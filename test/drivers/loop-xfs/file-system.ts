import { execFile } from "node:child_process";
import { chmodSync, chownSync, closeSync, openSync, readSync, statSync } from "node:fs";
import { promisify } from "node:util";
import { Refusal } from "../lib/serve.ts";
import type { Flags } from "./flags.ts";
import type { Storage } from "./storage.ts";

const run = promisify(execFile);

/**
 * Whether a volume has nothing on it yet, or the making of its file system was cut off.
 * @throws Refusal if it has something else
 */
export function isToBeFormatted(storage: Storage, id: string, file: string): boolean {
  const found = contentOf(file);
  if (found === "something" && !storage.isFormatting(id))
    throw new Refusal("INTERNAL", `${id} has something else on it`);
  return found !== "xfs" || storage.isFormatting(id);
}

export async function format(storage: Storage, id: string, file: string, flags: Flags): Promise<void> {
  storage.setFormatting(id, true);
  // It ends with the driver: else it could still write when the next driver has made another file system.
  // --unsupported: smaller than 300 MB, which is what tests want.
  await run("setpriv", ["--pdeathsig", "KILL", flags.mkfs, "-q", "-f", "--unsupported", file]);
  storage.setFormatting(id, false);
}

/** Grows a mounted file system to its device. */
export async function growFileSystem(path: string, flags: Flags): Promise<void> {
  await run(flags.growfs, ["-d", path]);
}

/** What the spec asks of volume_mount_group: the group may read and write, and owns what is made later. */
export function giveToGroup(path: string, group: string): void {
  const gid = Number(group);
  if (!Number.isInteger(gid) || gid < 0)
    throw new Refusal("INVALID_ARGUMENT", `volume_mount_group ${group} is no number`);
  chownSync(path, statSync(path).uid, gid);
  chmodSync(path, (statSync(path).mode & 0o7777) | 0o2770);
}

function contentOf(file: string): "nothing" | "xfs" | "something" {
  const head = Buffer.alloc(64 * 1024);
  const fd = openSync(file, "r");
  try {
    readSync(fd, head, 0, head.length, 0);
  } finally {
    closeSync(fd);
  }
  if (head.subarray(0, 4).toString("latin1") === "XFSB") return "xfs";
  return head.every((byte) => byte === 0) ? "nothing" : "something";
}
