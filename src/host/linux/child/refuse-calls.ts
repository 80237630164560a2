import { messageOf, VolumeError } from "../../../errors.ts";
import { errnoOf } from "../syscall/errno.ts";
import type { SandboxCalls } from "../syscall/sandbox-calls.ts";
import { callFilter, type Filtered, filterOfNothing } from "./call-filter.ts";

/** What seccomp(2) fails with for want of memory: the next attempt may pass. */
const passing = ["ENOMEM", "EAGAIN"];

const otherNodes = "select other nodes for sets with image or git";

type Calls = Pick<SandboxCalls, "gainNothing" | "filterCalls">;

/**
 * Has the kernel refuse the calls of callFilter to all threads of this process and to all that they start, for as long
 * as they live. No program that they run gives them rights any more (no_new_privs).
 * @param filtered what it leaves
 * @throws VolumeError SetUpFailed: without the filter nothing that comes from elsewhere is read. It is transient if the
 *   kernel lacks memory, and else final.
 */
export function refuseCalls(calls: Calls, filtered: Filtered = {}, arch: NodeJS.Architecture = process.arch): void {
  if (arch !== "x64" && arch !== "arm64") throw new Error(`no system calls are known of ${arch}`); // whyNotOn, before
  calls.gainNothing();
  try {
    calls.filterCalls(callFilter(arch, filtered));
  } catch (error) {
    const code = errnoOf(error);
    if (code === undefined) throw error;
    const errorClass = passing.includes(code) ? "transient" : "final";
    throw new VolumeError("SetUpFailed", errorClass, whyNot(calls, code, messageOf(error)), { cause: error });
  }
}

function whyNot(calls: Calls, code: string, message: string): string {
  if (passing.includes(code)) return `the kernel had no memory for the filter of system calls: ${message}`;
  if (code === "ENOSYS" || (code === "EINVAL" && !takesFilters(calls)))
    return `the node's kernel has no filters of system calls (CONFIG_SECCOMP_FILTER): ${message}. Use a kernel with it, or ${otherNodes}`;
  return `the kernel refused the filter of system calls, without which nothing is fetched: ${message}. Report it with uname -r of the node, and ${otherNodes}`;
}

/** EINVAL says that the kernel has no filters, or that it does not take this one. */
function takesFilters(calls: Calls): boolean {
  try {
    calls.filterCalls(filterOfNothing());
    return true;
  } catch (error) {
    return errnoOf(error) !== "EINVAL";
  }
}
