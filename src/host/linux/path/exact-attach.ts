import { VolumeError } from "../../../errors.ts";
import type { TargetPath } from "../../ports/types.ts";
import * as C from "../syscall/constants.ts";
import type { Descriptor } from "../syscall/descriptor.ts";
import { mayBe } from "../syscall/errno.ts";
import type { Libc } from "../syscall/libc.ts";
import { type OpenTarget, openTarget } from "./walk.ts";

/**
 * Attaches a detached mount to the directory or file that `opened` holds, and looks whether that is what became of it:
 * move_mount(2) goes down to whatever was mounted there in between, and the directory may have another path by then,
 * even outside the prefix. If it is not, the mount goes again, by its descriptor. umount2(2) goes down from there to
 * what is on top: nothing may be mounted over it, which is asked right before; what comes within the microseconds
 * between goes instead, and then it is said that ours is still there.
 * @throws VolumeError ForeignMount, TargetChanged: it is not mounted; uncertain: it may be
 */
export function attachExactly(libc: Libc, mount: Descriptor, opened: OpenTarget, target: TargetPath): void {
  libc.moveMount(mount.fd, opened.self.fd, C.MOVE_MOUNT_F_EMPTY_PATH | C.MOVE_MOUNT_T_EMPTY_PATH);
  const wrong = whatIsWrong(libc, mount, opened, target);
  if (wrong === undefined) return;
  const key = libc.mounts.keyOf(mount);
  if (mayBe(() => libc.mounts.hasChildren(key))) throw stillThere(target, wrong);
  libc.umount2(mount.path, C.UMOUNT.DETACH);
  if (key.unique !== undefined && mayBe(() => libc.mounts.parentOf(key) !== undefined)) throw stillThere(target, wrong);
  throw wrong;
}

function stillThere({ path }: TargetPath, cause: unknown): VolumeError {
  const message = `${path} was changed while it was being mounted on, and something was mounted over what we mounted`;
  return new VolumeError("TargetChanged", "uncertain", message, { cause });
}

function whatIsWrong(libc: Libc, mount: Descriptor, opened: OpenTarget, target: TargetPath): unknown {
  const key = libc.mounts.keyOf(mount);
  try {
    if (libc.mounts.parentOf(key) !== opened.stat.mountID) {
      return new VolumeError("ForeignMount", "transient", `something was mounted on ${target.path} at the same time`);
    }
    using now = openTarget(libc, target);
    if (now?.stat.mountRoot && now.stat.mountID === key.id) return undefined;
  } catch (error) {
    return error;
  }
  return new VolumeError("TargetChanged", "transient", `${target.path} was changed while it was being mounted on`);
}
