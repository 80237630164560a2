import { readFileSync } from "node:fs";
import koffi from "koffi";
import { AT_FDCWD, AT_STATX_DONT_SYNC, STATX } from "../../src/host/linux/syscall/constants.ts";
import { statx as AT } from "../../src/host/linux/syscall/layouts.ts";

/**
 * One line of mountinfo, as far as checks need it; read here anew, so that what they say does not rest on what they
 * check.
 */
export interface MountLine {
  readonly id: number;
  /** `major:minor` */
  readonly device: string;
  /** The directory of that file system which it shows. */
  readonly root: string;
  readonly point: string;
}

/** The mounts beneath a directory in our own mount namespace, oldest first. */
export function mountLinesBeneath(directory: string): MountLine[] {
  return readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .map((line) => line.split(" "))
    .filter((fields) => fields[4]?.startsWith(`${directory}/`))
    .map(([id, , device = "", root = "", point = ""]) => ({ id: Number(id), device, root, point }));
}

const statx = koffi.load(null).func("statx", "int", ["int", "str", "int", "uint", "void *"]);

/**
 * The id of the top-most mount on a path that no other mount gets before the next boot; of a kernel without (before
 * 6.8) the one that is used again.
 */
export function mountIDOf(path: string): bigint {
  const out = Buffer.alloc(AT.bytes);
  if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX.MNT_ID | STATX.MNT_ID_UNIQUE, out) !== 0)
    throw new Error(`statx of ${path}: errno ${koffi.errno()}`);
  return out.readBigUInt64LE(AT.stx_mnt_id);
}
