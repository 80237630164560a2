import { randomUUID } from "node:crypto";
import { AT_REMOVEDIR, AT_SYMLINK_NOFOLLOW } from "../syscall/constants.ts";
import { unlessErrno } from "../syscall/errno.ts";
import type { Libc } from "../syscall/libc.ts";
import type { OpenTarget } from "./walk.ts";

/**
 * Removes the empty directory or file that `opened` holds. rmdir(2) takes nothing but an empty directory, whatever has
 * come to stand under the name. unlink(2) takes a file with all that is in it: so a file is first given a name of ours,
 * and looked at there. What is not it gets its name back. Nobody can guess the new name, and take it first. A crash in
 * between leaves an empty file under it.
 * @throws Errno
 */
export function removeExactly(libc: Libc, opened: OpenTarget, kind: "directory" | "file"): void {
  const { parent, name, stat } = opened;
  if (kind === "directory") {
    libc.unlinkat(parent.fd, name, AT_REMOVEDIR);
    return;
  }
  const aside = `.nodevolume-removed-${randomUUID()}`;
  const rename = () => {
    libc.renameFree(parent.fd, name, parent.fd, aside);
    return true;
  };
  if (unlessErrno(["EINVAL"], rename) === undefined) {
    libc.unlinkat(parent.fd, name, 0); // a file system that knows no such rename, as NFS
    return;
  }
  const moved = libc.statx(parent.fd, aside, AT_SYMLINK_NOFOLLOW);
  if (moved.inode === stat.inode && moved.device === stat.device && moved.size === 0) {
    libc.unlinkat(parent.fd, aside, 0);
    return;
  }
  libc.renameFree(parent.fd, aside, parent.fd, name);
}
