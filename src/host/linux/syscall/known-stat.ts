import { AT_EMPTY_PATH, AT_STATX_DONT_SYNC, O } from "./constants.ts";
import { Descriptor } from "./descriptor.ts";
import { errnoOf, unlessErrno } from "./errno.ts";
import type { Libc, Statx } from "./libc.ts";
import { mountIDOf } from "./proc.ts";

/** What is to be known of a target to unmount it, or remove it. */
export type KnownStat = Pick<Statx, "mode" | "size" | "inode" | "device" | "mountID" | "mountRoot">;

/** What a file system says that has shut itself down, for good: xfs after an error, Ceph after an unmount by force. */
const shutDown = new Set(["EIO", "ESTALE"]);

/**
 * Attributes of an open file or directory that the kernel has cached: a request to an unreachable server would keep its
 * mount from being unmounted. For a file system that has shut down, and returns no attributes of files any more, those
 * of the mount.
 * @param by how it was opened: as this name in this directory
 */
export function knownStat(
  libc: Libc,
  self: Descriptor,
  by: { readonly from: Descriptor; readonly name: string },
): KnownStat {
  try {
    return libc.statx(self.fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC);
  } catch (error) {
    if (!shutDown.has(errnoOf(error) ?? "")) throw error;
    const mountID = mountIDOf(self);
    const mode = isDirectory(libc, by) ? 0o040000 : 0o100000;
    return { ...nothingKnown, mode, mountID, mountRoot: mountID !== mountIDOf(by.from) };
  }
}

/** Like nothing else: it is neither empty, nor what was seen before. */
const nothingKnown = { size: Number.POSITIVE_INFINITY, inode: Number.NaN, device: "" };

/** The kernel says so without a question to the file system. */
function isDirectory(libc: Libc, { from, name }: { readonly from: Descriptor; readonly name: string }): boolean {
  const flags = O.PATH | O.DIRECTORY | O.NOFOLLOW | O.CLOEXEC;
  using opened = unlessErrno(["ENOTDIR"], () => new Descriptor(libc.openat2(from.fd, name, flags, 0, 0)));
  return opened !== undefined;
}
