import { opendirSync } from "node:fs";
import { AT_REMOVEDIR, AT_SYMLINK_NOFOLLOW } from "./constants.ts";
import type { Descriptor } from "./descriptor.ts";
import { errnoOf } from "./errno.ts";
import type { Libc } from "./libc.ts";
import type { OpenTarget } from "./walk.ts";

/**
 * Removes the empty directory or file that `opened` holds, and nothing that has come to stand under its name: it is first
 * given a name of ours, and looked at there. What is not it gets its name back. A crash in between leaves it under the new
 * name, empty as it is.
 * @throws Errno
 */
export function removeExactly(libc: Libc, opened: OpenTarget, kind: "directory" | "file"): void {
  const { parent, name, stat } = opened;
  if (kind === "directory" && !isEmpty(opened.self)) return;
  const flags = kind === "directory" ? AT_REMOVEDIR : 0;
  const aside = `.nodevolume-removed-${stat.inode}`;
  if (!renameFree(libc, parent, name, aside)) {
    libc.unlinkat(parent.fd, name, flags); // a file system that knows no such rename, as NFS: none that a prefix is on
    return;
  }
  const moved = libc.statx(parent.fd, aside, AT_SYMLINK_NOFOLLOW);
  if (moved.inode === stat.inode && moved.device === stat.device && moved.size === stat.size) {
    try {
      libc.unlinkat(parent.fd, aside, flags);
      return;
    } catch (error) {
      libc.renameFree(parent.fd, aside, parent.fd, name);
      throw error;
    }
  }
  libc.renameFree(parent.fd, aside, parent.fd, name);
}

function isEmpty(directory: Descriptor): boolean {
  using entries = opendirSync(directory.path, { bufferSize: 1 });
  return entries.readSync() === null;
}

/** @returns false if the file system does not have it */
function renameFree(libc: Libc, parent: Descriptor, from: string, to: string): boolean {
  try {
    libc.renameFree(parent.fd, from, parent.fd, to);
    return true;
  } catch (error) {
    if (errnoOf(error) === "EINVAL") return false;
    throw error;
  }
}
