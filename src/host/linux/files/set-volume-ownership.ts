import { VolumeError } from "../../../errors.ts";
import { mountIdentity, relativePath } from "../../mount-table/mount-table.ts";
import type { OwnershipRequest, OwnershipResult } from "../../ports/ownership.ts";
import { mountOfByText } from "../mount/mount-of.ts";
import { AT_EMPTY_PATH, AT_FDCWD, O, RESOLVE } from "../syscall/constants.ts";
import { Descriptor } from "../syscall/descriptor.ts";
import { errnoOf } from "../syscall/errno.ts";
import type { Libc } from "../syscall/libc.ts";
import { fits } from "./group-rights.ts";
import { GroupWalk, type Tell } from "./group-walk.ts";

/**
 * Applies an fsGroup to all files of a mount or directory, root last (Ownership.give). The owner of the files may
 * interfere, and may swap names meanwhile: each entry is opened by its one name in a directory that is held open,
 * without following or opening it (O_PATH), and that descriptor is checked and changed. Files on other mounts are not
 * part of the volume. It runs in a disposable child process: the calls block, and there may be millions of them.
 */
export function setVolumeOwnership(libc: Libc, request: OwnershipRequest, tell: Tell): OwnershipResult {
  using root = openRoot(libc, request);
  const stat = libc.statx(root.fd, "", AT_EMPTY_PATH);
  if (stat.mountID !== request.mountID || stat.device !== request.device) throw changed(request);
  if (request.directory === undefined ? !stat.mountRoot : directoryOf(libc, root) !== request.directory) {
    throw changed(request);
  }
  if (request.policy === "OnRootMismatch" && fits(stat, request)) return { entries: 0, failed: 0, examples: [] };
  return new GroupWalk(libc, request, tell).of(root);
}

function openRoot(libc: Libc, request: OwnershipRequest): Descriptor {
  try {
    return new Descriptor(
      libc.openat2(AT_FDCWD, request.path, O.PATH | O.NOFOLLOW | O.CLOEXEC, 0, RESOLVE.NO_SYMLINKS),
    );
  } catch (error) {
    if (errnoOf(error) === "ENOENT") throw changed(request);
    throw error;
  }
}

/** As the file system calls it, whatever it is called here: with what is left of the name where it was removed. */
function directoryOf(libc: Libc, opened: Descriptor): string | undefined {
  const mount = mountOfByText(libc)(opened);
  return mount && mountIdentity(mount, relativePath(mount.point, opened.canonicalPath())).root;
}

function changed({ path }: OwnershipRequest): VolumeError {
  return new VolumeError("TargetChanged", "transient", `${path} is not the file or directory that was checked`);
}
