import { readFileSync } from "node:fs";
import { FSCONFIG, FSMOUNT_CLOEXEC, FSOPEN_CLOEXEC } from "../syscall/constants.ts";
import { Descriptor } from "../syscall/descriptor.ts";
import { ifThere } from "../syscall/if-there.ts";
import { loadLibc } from "../syscall/libc.ts";

/**
 * All of configfs, as a mount of its own that goes with the descriptor. The kernel has one tree, whoever has mounted it
 * where, and what was made in it stays when nobody has it mounted any more (configfs_get_tree and simple_pin_fs of
 * Linux).
 * @returns undefined if the kernel has none, and so serves nothing by it, or this process may not mount
 */
export function freshConfigfs(): Descriptor | undefined {
  const known = ifThere(() => readFileSync("/proc/filesystems", "utf8")) ?? "";
  if (!/^nodev\s+configfs$/m.test(known)) return undefined; // to ask for it would load it
  const libc = loadLibc();
  return ifThere(() => {
    using context = new Descriptor(libc.fsopen("configfs", FSOPEN_CLOEXEC));
    libc.fsconfig(context.fd, FSCONFIG.CMD_CREATE, null, null);
    return new Descriptor(libc.fsmount(context.fd, FSMOUNT_CLOEXEC, 0));
  });
}
