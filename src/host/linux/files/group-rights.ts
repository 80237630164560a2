import type { OwnershipRequest } from "../../ports/ownership.ts";
import { S_IFMT } from "../syscall/constants.ts";
import type { Statx } from "../syscall/libc.ts";

/** Rights that the group gets of a file (kubelet: volume_linux.go), and of one that nobody writes to. */
const readWrite = 0o660;
const read = 0o440;
/** And of a directory: to go through it, and that what is made in it has its group. */
const enter = 0o110;
export const inheritGroup = 0o2000;

export const directoryType = 0o040000;
export const symbolicLink = 0o120000;

/** Whether a volume's root says that everything was given to the group before (kubelet: requiresPermissionChange). */
export function fits(
  { mode, gid }: Pick<Statx, "mode" | "gid">,
  { fsGroup, readOnly = false }: Pick<OwnershipRequest, "fsGroup" | "readOnly">,
): boolean {
  if (gid !== fsGroup || (mode & S_IFMT) !== directoryType) return false;
  return rightsFor(mode, readOnly) === (mode & ~S_IFMT);
}

/** The permission bits that an entry gets: what it has, and what the group needs. @param mode with its type */
export function rightsFor(mode: number, readOnly = false): number {
  const directory = (mode & S_IFMT) === directoryType ? enter | inheritGroup : 0;
  return (mode & ~S_IFMT) | (readOnly ? read : readWrite) | directory;
}
