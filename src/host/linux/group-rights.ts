import type { OwnershipRequest } from "../ownership.ts";
import { S_IFMT } from "./constants.ts";
import type { Statx } from "./libc.ts";

/** Rights that the group gets of a file (kubelet: volume_linux.go). */
const readWrite = 0o660;
/** And of a directory: to go through it, and that what is made in it has its group. */
const enter = 0o110;
const inheritGroup = 0o2000;

export const directoryType = 0o040000;
export const symbolicLink = 0o120000;

/** Whether a volume's root says that everything was given to the group before (kubelet: requiresPermissionChange). */
export function fits({ mode, gid }: Pick<Statx, "mode" | "gid">, { fsGroup }: Pick<OwnershipRequest, "fsGroup">) {
  if (gid !== fsGroup || (mode & S_IFMT) !== directoryType) return false;
  const rights = readWrite | enter | inheritGroup;
  return (mode & rights) === rights;
}

/** The permission bits that an entry gets: what it has, and what the group needs. */
export function rightsFor(mode: number): number {
  const directory = (mode & S_IFMT) === directoryType ? enter | inheritGroup : 0;
  return (mode & ~S_IFMT) | readWrite | directory;
}
