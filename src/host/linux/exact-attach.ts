import { VolumeError } from "../../errors.ts";
import type { TargetPath } from "../ports.ts";
import * as C from "./constants.ts";
import type { Descriptor } from "./descriptor.ts";
import type { Libc } from "./libc.ts";
import { type OpenTarget, openTarget } from "./walk.ts";

/**
 * Attaches a detached mount to the directory or file that `opened` holds, and looks whether that is what became of it:
 * move_mount(2) goes down to whatever was mounted there in between, and the directory may have another path by then, even
 * outside the prefix. If it is not, the mount goes again, by its descriptor: nobody else's is taken.
 * @throws VolumeError ForeignMount, TargetChanged: it is not mounted
 */
export function attachExactly(libc: Libc, mount: Descriptor, opened: OpenTarget, target: TargetPath): void {
  libc.moveMount(mount.fd, opened.self.fd, C.MOVE_MOUNT_F_EMPTY_PATH | C.MOVE_MOUNT_T_EMPTY_PATH);
  const wrong = whatIsWrong(libc, mount, opened, target);
  if (wrong === undefined) return;
  libc.umount2(mount.path, C.UMOUNT.DETACH);
  throw wrong;
}

function whatIsWrong(libc: Libc, mount: Descriptor, opened: OpenTarget, target: TargetPath): unknown {
  const key = libc.mounts.keyOf(mount);
  if (libc.mounts.parentOf(key) !== opened.stat.mountID) {
    return new VolumeError("ForeignMount", "transient", `something was mounted on ${target.path} at the same time`);
  }
  try {
    using now = openTarget(libc, target);
    if (now?.stat.mountRoot && now.stat.mountID === key.id) return undefined;
  } catch (error) {
    return error;
  }
  return new VolumeError("TargetChanged", "transient", `${target.path} was changed while it was being mounted on`);
}
