import { close } from "node:fs";
import { promisify } from "node:util";
import { VolumeError } from "../../errors.ts";
import type { TargetPath, UnmountRung } from "../ports.ts";
import * as C from "./constants.ts";
import { Descriptor } from "./descriptor.ts";
import { errnoOf } from "./errno.ts";
import type { Libc } from "./libc.ts";
import type { OpenTarget } from "./walk.ts";

const closeInPool = promisify(close);

/** How often a mount that somebody looked at between two calls is tried again, before it counts as in use. */
const attempts = 16;

/** What a file system without handles, or an agent without the right to use them, answers. */
const noHandles: ReadonlySet<string> = new Set(["EOPNOTSUPP", "EPERM", "EOVERFLOW", "ESTALE", "EINVAL"]);

/**
 * Unmounts the mount that `opened` holds, and no other. umount2(2) takes a path, and a descriptor of the mount would keep
 * it busy. Between a look at the path and the call, whoever may rename in the directory from another mount namespace can
 * put another mount point into its place (in the agent's own namespace a mount point has its name for good, EBUSY), and
 * whoever may mount can mount over it. So:
 *
 *   1. The directory that the mount covers is opened, past the mount, by its file handle: umount2 of a descriptor goes
 *      down to what is mounted there, and no name is looked up any more. Without handles the name has to do.
 *   2. MNT_EXPIRE while the mount is held must say EBUSY. EAGAIN: it was another mount, which stays.
 *   3. MNT_EXPIRE once it is not held marks what is mounted there; the mark goes with the next use.
 *   4. MNT_EXPIRE again unmounts what is marked, and nothing else. (Force has no such second step: umount2 with MNT_FORCE.)
 *   5. Last, the id of the mount must be gone.
 *
 * What is left: another mount that is in use in step 2 and not in steps 3 and 4, put there before and taken away by
 * nobody in between. Lazy needs none of it: it takes a descriptor of the mount itself.
 */
export async function unmountExactly(
  libc: Libc,
  target: TargetPath,
  opened: OpenTarget,
  rung: UnmountRung,
): Promise<void> {
  const key = libc.mounts.keyOf(opened.self);
  if (rung === "Lazy") {
    using mount = opened.self;
    using _parent = opened.parent;
    libc.umount2(mount.path, C.UMOUNT.DETACH);
  } else {
    using parent = opened.parent;
    await using clone = cloneOf(libc, parent);
    using point = clone && openCovered(libc, { parent, clone, name: opened.name });
    const [path, how] = point === undefined ? [`${parent.path}/${opened.name}`, C.UMOUNT.NOFOLLOW] : [point.path, 0];
    try {
      if (expire(libc, path, how) !== "busy") {
        // Any use of what was marked by this takes the mark away again.
        libc.statx(parent.fd, opened.name, C.AT_SYMLINK_NOFOLLOW | C.AT_STATX_DONT_SYNC);
        throw changed(target);
      }
    } finally {
      opened.self[Symbol.dispose]();
    }
    if (rung === "Force") force(libc, target, path, how);
    else unmountMarked(libc, target, path, how);
  }
  if (key.unique === undefined || libc.mounts.parentOf(key) === undefined) return;
  throw new VolumeError("TargetChanged", "uncertain", `${target.path} was changed while it was being unmounted`);
}

function unmountMarked(libc: Libc, target: TargetPath, path: string, how: number): void {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const said = expire(libc, path, how);
    if (said === "unmounted") return;
    if (said === "busy") break;
  }
  throw busy(target);
}

function force(libc: Libc, target: TargetPath, path: string, how: number): void {
  try {
    libc.umount2(path, how | C.UMOUNT.FORCE);
  } catch (error) {
    throw errnoOf(error) === "EBUSY" ? busy(target, error) : error;
  }
}

function expire(libc: Libc, path: string, how: number): "busy" | "marked" | "unmounted" {
  try {
    libc.umount2(path, how | C.UMOUNT.EXPIRE);
    return "unmounted";
  } catch (error) {
    if (errnoOf(error) === "EBUSY") return "busy";
    if (errnoOf(error) === "EAGAIN") return "marked";
    throw error;
  }
}

/** A clone of the mount that a directory is in, which shows what is mounted upon there. Undefined if it may not be made. */
function cloneOf(libc: Libc, { fd }: Descriptor): PooledDescriptor | undefined {
  try {
    return new PooledDescriptor(libc.openTree(fd, "", C.AT_EMPTY_PATH | C.OPEN_TREE_CLONE | C.OPEN_TREE_CLOEXEC));
  } catch (error) {
    if (noHandles.has(errnoOf(error) ?? "")) return undefined;
    throw error;
  }
}

/**
 * The directory or file `name` itself, beneath whatever is mounted on it, in the mount of `parent`: the clone shows it
 * bare, and its handle opens it in the mount itself. Undefined if the file system has no handles.
 */
function openCovered(
  libc: Libc,
  { parent, clone, name }: { parent: Descriptor; clone: PooledDescriptor; name: string },
): Descriptor | undefined {
  try {
    libc.mountSetattr(clone.fd, 0, 0, C.MS_PRIVATE); // nothing of what is mounted meanwhile shall arrive in it
    const bare = C.RESOLVE.BENEATH | C.RESOLVE.NO_SYMLINKS | C.RESOLVE.NO_XDEV;
    using covered = new Descriptor(libc.openat2(clone.fd, name, C.O.PATH | C.O.NOFOLLOW | C.O.CLOEXEC, 0, bare));
    const readable = C.O.RDONLY | C.O.DIRECTORY | C.O.CLOEXEC;
    using mount = new Descriptor(libc.openat2(parent.fd, ".", readable, 0, 0));
    return new Descriptor(libc.handles.openHandle(mount, libc.handles.handleOf(covered), C.O.PATH | C.O.CLOEXEC));
  } catch (error) {
    if (noHandles.has(errnoOf(error) ?? "")) return undefined;
    throw error;
  }
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
  const message = `${target.path} was changed while it was being unmounted: another mount stands there now`;
  return new VolumeError("TargetChanged", "transient", message);
}
