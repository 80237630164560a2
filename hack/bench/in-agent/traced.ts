import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** Milliseconds that strace may take to hold all threads. */
const attachMs = 10_000;

/**
 * How often each system call is made while `work` runs, in all threads of this process and in what they start. It takes
 * many times as long as without: of use are the numbers alone.
 * @param file that strace may write to
 * @returns undefined if there is no strace
 */
export async function traced(
  work: () => Promise<void>,
  file: string,
): Promise<ReadonlyMap<string, number> | undefined> {
  const args = ["-f", "-c", "-U", "name,calls", "-o", file, "-p", String(process.pid)];
  const strace = spawn("strace", args, { stdio: ["ignore", "ignore", "pipe"] });
  const ended = once(strace, "close").catch((error: NodeJS.ErrnoException) => error.code ?? error.message);
  const attached = (async () => {
    for await (const text of strace.stderr.setEncoding("utf8")) if (text.includes("attached")) return;
    return ended;
  })();
  const failed = await Promise.race([attached, sleep(attachMs, ["no sign of it"])]);
  if (failed !== undefined) {
    strace.kill();
    process.stderr.write(`warn system calls are not counted: strace: ${failed}\n`);
    return undefined;
  }
  strace.stderr.resume();
  await work();
  strace.kill("SIGINT");
  await ended;
  const text = readFileSync(file, "utf8");
  rmSync(file);
  return callsIn(text);
}

/** PURE. What `strace -c -U name,calls` prints. */
export function callsIn(text: string): ReadonlyMap<string, number> {
  const calls = new Map<string, number>();
  for (const line of text.split("\n")) {
    const [, name, count] = /^\s*(\w+)\s+(\d+)\s*$/.exec(line) ?? [];
    if (name !== undefined && name !== "total") calls.set(name, Number(count));
  }
  return calls;
}
