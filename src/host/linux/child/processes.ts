import { readdirSync, readFileSync } from "node:fs";
import type { ChildProcessID } from "../../ports/types.ts";
import { unlessGone } from "../syscall/errno.ts";
import { startTimeOf } from "./child-runner.ts";

/** Which process is looked for: by what /proc shows without waiting, then by its arguments. */
export interface Sought {
  /** Whether it may be the one, by what the kernel says without waiting: a file of its directory in /proc. */
  readonly mayBe?: (read: (file: string) => string) => boolean;
  readonly has: (args: readonly string[]) => boolean;
}

/**
 * The process with that pid, if it is one of root with such arguments: everybody may give them to a process of theirs.
 * To be asked in a child: arguments are in the memory of the process, which it may keep to itself as long as it waits
 * for somebody. So they are read last.
 */
export function processOfRoot(pid: number, { mayBe, has }: Sought, proc = "/proc"): ChildProcessID | undefined {
  return unlessGone(() => {
    const read = (file: string) => readFileSync(`${proc}/${pid}/${file}`, "utf8");
    const startTime = startTimeOf(pid, proc);
    const status = read("status");
    if (!/^Uid:\t0\t0\t/m.test(status) || !status.includes(`\nTgid:\t${pid}\n`)) return undefined;
    if (mayBe?.(read) === false || !has(read("cmdline").split("\0"))) return undefined;
    return startTimeOf(pid, proc) === startTime ? { pid, startTime } : undefined;
  });
}

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
