import type { ChildProcess } from "node:child_process";
import { once } from "node:events";

/** Where tests of a suite put the processes that they start: they are ended after each test, one after another. */
export function withProcesses(): ChildProcess[] {
  const processes: ChildProcess[] = [];
  afterEach(async () => {
    for (const process of processes.splice(0)) await end(process);
  });
  return processes;
}

/** Ends a process, if it has not ended. */
export async function end(process: ChildProcess): Promise<void> {
  if (process.exitCode !== null || process.signalCode !== null) return;
  const ended = once(process, "exit");
  process.kill("SIGKILL");
  await ended;
}
