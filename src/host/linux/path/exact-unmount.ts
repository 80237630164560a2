import { close } from "node:fs";
import { promisify } from "node:util";
import { VolumeError } from "../../../errors.ts";
import type { UnmountMode } from "../../ports/host-ports.ts";
import type { TargetPath } from "../../ports/types.ts";
import * as C from "../syscall/constants.ts";
import { Descriptor } from "../syscall/descriptor.ts";
import { errnoOf, mayBe, unlessErrno } from "../syscall/errno.ts";
import { knownStat } from "../syscall/known-stat.ts";
import type { Libc } from "../syscall/libc.ts";
import type { MountID } from "../syscall/mount-links.ts";
import { type OpenTarget, openInRoot } from "./walk.ts";

const closeInPool = promisify(close);

/** How often a mount that somebody looked at between two calls is tried again, before it counts as in use. */
const attempts = 16;
/** What a file system without handles, or an agent without the right to use them, answers. */
const noHandles = ["ENOTSUP", "EPERM", "EOVERFLOW", "EINVAL"];

/**
 * Unmounts the mount that `opened` holds, and no other. umount2(2) takes a path, and a descriptor of the mount would
 * keep it busy. Between a look at the path and the call, whoever may rename in the directory from another mount
 * namespace can put another mount point into its place (in the agent's own namespace a mount point has its name for
 * good, EBUSY), and whoever may mount can mount over it. So:
 *
 *   1. The directory that the mount covers is opened, past the mount, by its file handle. umount2 of such a descriptor
 *      goes down to what is mounted there: no name is looked up any more.
 *   2. ".." of it, where it is the root of the walk, is what is mounted there: it must be the mount that is held.
 *   3. MNT_EXPIRE marks what is mounted there; the mark goes with the next use.
 *   4. Nothing must be mounted over it (asked by id, which is no use): else that was marked.
 *   5. MNT_EXPIRE again unmounts what is marked, and nothing else; on another thread, for it has to wait.
 *   6. The id of the mount must be gone.
 *
 * Force has no second step of that kind (MNT_FORCE goes without MNT_EXPIRE): who mounts over it between 2 and 5 loses
 * that mount. A file has no "..", and some file systems have no handles (overlayfs): there the name is what 1 to 5 go
 * by, and what is exchanged right after 2 may be unmounted. Lazy takes a descriptor of the mount itself and needs none
 * of it.
 */
export async function unmountExactly(
  libc: Libc,
  target: TargetPath,
  opened: OpenTarget,
  unmountMode: UnmountMode,
): Promise<void> {
  const key = libc.mounts.keyOf(opened.self);
  if (unmountMode === "Lazy") {
    using mount = opened.self;
    using _parent = opened.parent;
    libc.umount2(mount.path, C.UMOUNT.DETACH);
  } else {
    await unmountCovered(libc, target, opened, { unmountMode, key });
  }
  if (key.unique === undefined || !mayBe(() => libc.mounts.parentOf(key) !== undefined)) return;
  throw new VolumeError("TargetChanged", "uncertain", `${target.path} was changed while it was being unmounted`);
}

async function unmountCovered(
  libc: Libc,
  target: TargetPath,
  opened: OpenTarget,
  { unmountMode, key }: { unmountMode: "Normal" | "Force"; key: MountID },
): Promise<void> {
  using parent = opened.parent;
  opened.self[Symbol.dispose](); // held, it would be busy
  await using clone = cloneOf(libc, parent);
  using point = clone && openCovered(libc, { parent, clone, name: opened.name });
  if (point !== undefined && !isMountedOn(libc, point, opened)) throw changed(target);
  const path = point?.path ?? `${parent.path}/${opened.name}`;
  const how = point === undefined ? C.UMOUNT.NOFOLLOW : 0;
  try {
    if (unmountMode === "Force") libc.umount2(path, how | C.UMOUNT.FORCE);
    else await unmountMarked(libc, target, path, { how, key });
  } catch (error) {
    if (errnoOf(error) === "EBUSY") throw busy(target, error);
    throw errnoOf(error) === "EINVAL" ? changed(target) : error; // EINVAL: nothing is mounted there any more
  }
}

/** Whether the mount on top of a covered directory is the one that was opened; of a file that cannot be asked. */
function isMountedOn(libc: Libc, point: Descriptor, { stat }: OpenTarget): boolean {
  try {
    using top = openInRoot(libc, point, "..");
    const found = knownStat(libc, top, { from: point, name: "." });
    return found.mountRoot && found.mountID === stat.mountID;
  } catch (error) {
    if (errnoOf(error) === "ENOTDIR") return true;
    throw error;
  }
}

async function unmountMarked(
  libc: Libc,
  target: TargetPath,
  path: string,
  { how, key }: { how: number; key: MountID },
): Promise<void> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const flags = how | C.UMOUNT.EXPIRE;
    // The first only marks. The second is what waits; what it marks because somebody looked meanwhile, or why it
    // failed, the next finds.
    if (attempt === 1 ? await libc.umount2InThread(path, flags) : isExpired(libc, path, flags)) return;
    // Somebody else has unmounted it, and what is there now nobody has looked at.
    if (attempt > 0 && !mayBe(() => libc.mounts.parentOf(key) !== undefined)) return;
    if (libc.mounts.hasChildren(key)) throw changed(target);
  }
  throw busy(target);
}

/** @returns whether it was marked before, and is unmounted; else it is marked now. @throws Errno EBUSY, EINVAL */
function isExpired(libc: Libc, path: string, flags: number): boolean {
  try {
    libc.umount2(path, flags);
    return true;
  } catch (error) {
    if (errnoOf(error) === "EAGAIN") return false;
    throw error;
  }
}

/**
 * A clone of the mount that a directory is in, which shows what is mounted upon there. Undefined if it may not be made.
 */
function cloneOf(libc: Libc, { fd }: Descriptor): PooledDescriptor | undefined {
  const flags = C.AT_EMPTY_PATH | C.OPEN_TREE_CLONE | C.OPEN_TREE_CLOEXEC;
  return unlessErrno(noHandles, () => new PooledDescriptor(libc.openTree(fd, "", flags)));
}

/**
 * The directory or file `name` itself, beneath whatever is mounted on it, in the mount of `parent`: the clone shows it
 * bare, and its handle opens it in the mount itself. Undefined if the file system has no handles.
 */
function openCovered(
  libc: Libc,
  { parent, clone, name }: { parent: Descriptor; clone: PooledDescriptor; name: string },
): Descriptor | undefined {
  return unlessErrno(noHandles, () => {
    libc.mountSetattr(clone.fd, 0, 0, C.MS.PRIVATE); // nothing of what is mounted meanwhile shall arrive in it
    const bare = C.RESOLVE.BENEATH | C.RESOLVE.NO_SYMLINKS | C.RESOLVE.NO_XDEV;
    using covered = new Descriptor(libc.openat2(clone.fd, name, C.O.PATH | C.O.NOFOLLOW | C.O.CLOEXEC, 0, bare));
    const readable = C.O.RDONLY | C.O.DIRECTORY | C.O.CLOEXEC;
    using mount = new Descriptor(libc.openat2(parent.fd, ".", readable, 0, 0));
    return new Descriptor(libc.handles.openHandle(mount, libc.handles.handleOf(covered), C.O.PATH | C.O.CLOEXEC));
  });
}

/** Closed on a thread of the pool: the end of a mount waits until no processor looks at it any more, about 0.1 ms. */
class PooledDescriptor implements AsyncDisposable {
  readonly fd: number;

  constructor(fd: number) {
    this.fd = fd;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return closeInPool(this.fd);
  }
}

function busy(target: TargetPath, cause?: unknown): VolumeError {
  return new VolumeError("TargetBusy", "transient", `${target.path} is in use`, { cause });
}

function changed(target: TargetPath): VolumeError {
  const message = `${target.path} was changed while it was being unmounted: another mount is there now`;
  return new VolumeError("TargetChanged", "transient", message);
}
