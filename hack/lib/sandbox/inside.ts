import { Socket } from "node:net";
import { eachLine } from "../lines.ts";
import { coverWithTmpfs } from "./cover.ts";
import { entryVariable } from "./outside.ts";

/** Whether this process is the first script of a sandbox, which has to open it. */
export function insideSandbox(): boolean {
  return process.env[entryVariable] !== undefined;
}

export interface Sandbox {
  /** Aborted when the user or the system wants everything to stop: Ctrl-C, SIGTERM. */
  readonly stopped: AbortSignal;
  /** The number that a process of the sandbox has outside, for commands that people type in another terminal. */
  outerPid(pid: number): Promise<number>;
}

/**
 * Puts /tmp and /mnt on tmpfs and ties this process to the one outside.
 * @param keep folders and files that must stay visible if they lie beneath /tmp or /mnt
 */
export function openSandbox(keep: readonly string[]): Sandbox {
  delete process.env[entryVariable];
  const stop = new AbortController();
  process.on("SIGINT", () => stop.abort()).on("SIGTERM", () => stop.abort());
  const waiting = new Map<number, (pid: number) => void>();
  const channel = new Socket({ fd: 3 });
  // Covers what the parent-death signal leaves open: the process outside died before the signal was set up.
  channel.on("close", () => process.kill(process.pid, "SIGKILL")).on("error", () => undefined);
  channel.unref();
  eachLine(channel, (line) => {
    const message = JSON.parse(line) as { stop?: true; answer?: number; pid?: number };
    if (message.stop) stop.abort();
    else if (message.answer !== undefined) waiting.get(message.answer)?.(message.pid ?? 0);
  });
  for (const directory of ["/tmp", "/mnt"]) coverWithTmpfs(directory, keep);
  process.env["TMPDIR"] = "/tmp";
  let asked = 0;
  const ask = (pid: number) =>
    new Promise<number>((resolve) => {
      asked += 1;
      waiting.set(asked, resolve);
      channel.ref();
      channel.write(`${JSON.stringify({ ask: asked, pid })}\n`);
    });
  return { stopped: stop.signal, outerPid: (pid) => ask(pid).finally(() => channel.unref()) };
}
