import type { MountAttributes } from "../../ports/types.ts";
import { MOUNT_ATTR } from "../syscall/constants.ts";

/** Mount attributes as mount_setattr(2) takes them: everything that is not wanted is cleared. */
export function attributeBits(attributes: MountAttributes): { set: number; clear: number } {
  const flags: readonly [boolean, number][] = [
    [attributes.readOnly, MOUNT_ATTR.RDONLY],
    [attributes.nosuid, MOUNT_ATTR.NOSUID],
    [attributes.nodev, MOUNT_ATTR.NODEV],
    [attributes.noexec, MOUNT_ATTR.NOEXEC],
    [attributes.nodiratime, MOUNT_ATTR.NODIRATIME],
    [attributes.nosymfollow, MOUNT_ATTR.NOSYMFOLLOW],
  ];
  let set: number = atimeBits(attributes.atime);
  let clear: number = MOUNT_ATTR.ATIME_MASK; // the access time setting can only be changed with the whole mask cleared
  for (const [wanted, bit] of flags) {
    if (wanted) set |= bit;
    else clear |= bit;
  }
  return { set, clear };
}

function atimeBits(atime: MountAttributes["atime"]): number {
  if (atime === "noatime") return MOUNT_ATTR.NOATIME;
  return atime === "strictatime" ? MOUNT_ATTR.STRICTATIME : 0;
}
