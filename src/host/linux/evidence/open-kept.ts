import { openSync } from "node:fs";
import { constants } from "node:os";
import { AT_EMPTY_PATH, AT_STATX_DONT_SYNC, CLONE_NEWNS, O, RESOLVE } from "../syscall/constants.ts";
import { Descriptor } from "../syscall/descriptor.ts";
import { Errno, errnoOf } from "../syscall/errno.ts";
import type { Libc } from "../syscall/libc.ts";
import { unlessGone } from "../syscall/unless-gone.ts";
import { type KeptPlace, nsfsDevice } from "./kept-places.ts";
import type { NamespaceCalls } from "./listed-namespaces.ts";

/** Dependencies of opening a kept namespace. */
export interface OpenKeptCalls {
  readonly libc: Pick<Libc, "openat2" | "statx">;
  readonly calls: Pick<NamespaceCalls, "namespaceType">;
}

const plain = RESOLVE.IN_ROOT | RESOLVE.NO_SYMLINKS;

/**
 * Opens what keeps a mount namespace. Nothing on the way is waited for, and neither is the file that is there: whoever
 * made them may let no call of ours end. It is opened for real only when it is a namespace: to open a pipe or device
 * may wait, or do something.
 * @returns undefined if it is gone, or no mount namespace
 * @throws Errno EAGAIN if the way there may hang, and perhaps if it is gone
 */
export function openNamespace(place: KeptPlace, { libc, calls }: OpenKeptCalls): Descriptor | undefined {
  const found = unlessGone(() => openPath(place, libc));
  if (found === undefined) return undefined;
  using there = found;
  if (libc.statx(there.fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC).device !== nsfsDevice()) return undefined;
  const file = new Descriptor(openSync(there.path, "r"));
  if (calls.namespaceType(file.fd) === CLONE_NEWNS) return file;
  file[Symbol.dispose]();
  return undefined;
}

/**
 * A link of /proc leads to the open file itself. A mount point and all above it are in the kernel's memory as long as
 * it is one.
 */
function openPath({ path, way }: KeptPlace, libc: OpenKeptCalls["libc"]): Descriptor {
  if (way === undefined) return new Descriptor(openSync(path, O.PATH));
  using root = new Descriptor(openSync(way.root, O.PATH | O.DIRECTORY));
  const open = (resolve: number) => new Descriptor(libc.openat2(root.fd, path, O.PATH | O.CLOEXEC, 0, resolve));
  try {
    return open(plain | RESOLVE.CACHED);
  } catch (error) {
    if (errnoOf(error) !== "EINVAL") throw error;
    // Before Linux 5.12: as far as the mount table tells.
    if (way.mayHang()) throw new Errno("openat2", constants.errno.EAGAIN, path);
    return open(plain);
  }
}
