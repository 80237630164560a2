import { messageOf, VolumeError } from "../../../errors.ts";
import { errnoOf } from "../syscall/errno.ts";
import type { SandboxCalls } from "../syscall/sandbox-calls.ts";
import { callFilter } from "./call-filter.ts";

/** What seccomp(2) fails with on a kernel that was built without filters: the container api-proxy needs them, too. */
const without = ["ENOSYS", "EINVAL"];

/**
 * Has the kernel refuse the calls of callFilter to all threads of this process and to all that they start, for as long
 * as they live. No program that they run gives them rights any more (no_new_privs).
 * @param mayUnshare flags of unshare(2) that stay allowed
 * @throws VolumeError SetUpFailed, final: without the filter nothing that comes from elsewhere is read
 */
export function refuseCalls(
  calls: Pick<SandboxCalls, "gainNothing" | "filterCalls">,
  mayUnshare = 0,
  arch: NodeJS.Architecture = process.arch,
): void {
  if (arch !== "x64" && arch !== "arm64") throw new Error(`no system calls are known of ${arch}`); // whyNotOn, before
  calls.gainNothing();
  try {
    calls.filterCalls(callFilter(arch, mayUnshare));
  } catch (error) {
    const code = errnoOf(error);
    if (code === undefined) throw error;
    const why = without.includes(code)
      ? `the node's kernel has no filters of system calls (CONFIG_SECCOMP_FILTER): ${messageOf(error)}. Images and git repositories need them`
      : `the kernel refused the filter of system calls, without which nothing is fetched: ${messageOf(error)}`;
    throw new VolumeError("SetUpFailed", "final", why, { cause: error });
  }
}
