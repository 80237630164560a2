import { readdirSync, readFileSync } from "node:fs";
import type { ChildProcessID } from "../../ports/types.ts";
import { startTimeOf } from "./child-runner.ts";

/**
 * Whether it goes on, by what the kernel says without the process's memory, for which one may have to wait.
 * @throws ENOENT or ESRCH, if nobody has its pid
 */
export function isAlive({ pid, startTime }: ChildProcessID): boolean {
  return startTimeOf(pid) === startTime && !hasEnded(pid);
}

/**
 * Whether a process that is still listed does nothing any more: whoever should take note of its end may never do so.
 * Its first thread may have ended before others.
 */
function hasEnded(pid: number): boolean {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  const [state] = stat.slice(stat.lastIndexOf(")") + 2);
  return (state === "Z" || state === "X") && readdirSync(`/proc/${pid}/task`).length <= 1;
}
