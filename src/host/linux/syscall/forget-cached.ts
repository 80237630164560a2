import koffi from "koffi";
import { Errno } from "./errno.ts";

/** posix_fadvise(2) */
const dontNeed = 4;

/**
 * Has the kernel read a device anew, but for what is to be written to it still: while anybody on the node has it open,
 * the kernel keeps what it has read, and another node that reaches the same disk may have written to it since.
 */
export function forgetCached(fd: number): void {
  const advise = koffi.load(null).func("posix_fadvise", "int", ["int", "int64", "int64", "int"]) as (
    ...args: readonly number[]
  ) => number;
  const error = advise(fd, 0, 0, dontNeed);
  if (error !== 0) throw new Errno("posix_fadvise", error);
}
