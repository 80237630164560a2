import { Errno } from "../../../src/host/linux/syscall/errno.ts";
import type { MountQueries } from "../../../src/host/linux/syscall/mount-calls.ts";

/** Fake statmount and listmount of a kernel, or of a container's filter, that refuses them with an errno. */
export function refusing(errno: number): MountQueries {
  const refuse = (call: string) => (): never => {
    throw new Errno(call, errno);
  };
  const [statmount, listmount] = [refuse("statmount"), refuse("listmount")];
  return { statmount, listmount, listBeneath: listmount, hasChildren: listmount };
}
