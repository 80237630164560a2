// When npm, its shell or any process between them and us is killed, even by SIGKILL, we end too.
import { readFileSync, readlinkSync } from "node:fs";
import { basename } from "node:path";
import { killMeWithMyParent, onPidfdExit, openPidfd } from "../syscalls.ts";

/**
 * Ties this process to its parent by the kernel's parent-death signal, and, where npm started it through a shell that
 * stays in between, to each process up to npm by a pidfd. A parent that was gone before we looked ends us at once.
 */
export function dieWithNpm(env: NodeJS.ProcessEnv): void {
  killMeWithMyParent();
  if (env["npm_lifecycle_event"] === undefined) return;
  const chain = ancestorsUpToNpm();
  const pidfds = chain?.map((pid) => openPidfd(pid));
  // A number read before its pidfd was open may have been given to another process since.
  const same = chain !== undefined && ancestorsUpToNpm()?.join() === chain.join();
  if (!same) endNow();
  for (const pidfd of pidfds ?? []) {
    if (pidfd === undefined) endNow();
    else onPidfdExit(pidfd, endNow);
  }
}

/** Parents from the nearest up to the first that runs Node, which is npm; undefined if there is none. */
function ancestorsUpToNpm(): number[] | undefined {
  const chain: number[] = [];
  for (let pid = process.ppid; pid > 0; pid = parentOf(pid)) {
    chain.push(pid);
    if (runsNode(pid)) return chain;
  }
  return undefined;
}

/** 0 if the process has no parent here, or is gone. */
function parentOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The second field is the name in parentheses, and may itself hold spaces and parentheses.
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return 0;
  }
}

function runsNode(pid: number): boolean {
  try {
    return basename(readlinkSync(`/proc/${pid}/exe`)).startsWith("node");
  } catch {
    return false;
  }
}

function endNow(): void {
  process.kill(process.pid, "SIGKILL");
}
