import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import type { Socket } from "node:net";
import { eachLine } from "../lines.ts";
import { dieWithNpm } from "./die-with-npm.ts";

/** Set for the first process of a sandbox only; it takes it out of its environment. */
export const entryVariable = "NODEVOLUME_SANDBOX";
/** In the environment of every process of a sandbox: by it a leftover is found. */
export const runVariable = "NODEVOLUME_RUN";

export interface SandboxRun {
  /** A script for our own Node; its first act is openSandbox(). */
  readonly script: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** Identifies the run, see newRunId. */
  readonly id: string;
  /**
   * Absent: a PID namespace of its own. The machine's: what only a process there may see. What it starts has to end by
   * itself.
   */
  readonly pids?: "machine";
  /** Descriptor of the file that gets what it prints, instead of the terminal; it is then in a session of its own. */
  readonly output?: number;
}

export function newRunId(): string {
  return randomBytes(6).toString("hex");
}

/**
 * Runs a script in a PID and mount namespace of its own, in which /tmp and /mnt are on tmpfs. However this process
 * ends, the kernel then ends everything in there: the death of this process kills `unshare`, its death the first
 * process of the PID namespace, and with that one every other process, the mount namespace, its mounts and its files.
 * Needs root, and util-linux's setpriv and unshare.
 * @returns the exit code of the script, or 128 + the number of the signal that ended it
 */
export async function runInSandbox(run: SandboxRun): Promise<number> {
  tieOnce();
  const ownPids = run.pids === "machine" ? [] : ["--pid", "--mount-proc"];
  const unshare = ["unshare", "--mount", "--fork", "--kill-child=KILL", ...ownPids];
  // The first process is a shell, because somebody has to reap the orphans: Node reaps only its own children.
  const first = ["sh", "-c", '"$@"; exit $?', "sandbox", process.execPath, run.script, ...run.args];
  const output = run.output ?? "inherit";
  const child = spawn("setpriv", ["--pdeathsig", "KILL", ...unshare, ...first], {
    stdio: ["inherit", output, output, "pipe"],
    detached: run.output !== undefined,
    env: { ...process.env, ...run.env, [entryVariable]: run.id, [runVariable]: run.id },
  });
  return supervise(child);
}

let tied = false;
function tieOnce(): void {
  if (!tied) dieWithNpm(process.env);
  tied = true;
}

function supervise(child: ChildProcess): Promise<number> {
  const channel = child.stdio[3] as Socket;
  channel.on("error", () => undefined); // its end is seen as the child's exit
  eachLine(channel, (line) => {
    const { ask, pid } = JSON.parse(line) as { ask: number; pid: number };
    channel.write(`${JSON.stringify({ answer: ask, pid: outerPid(child.pid, pid) })}\n`);
  });
  let signals = 0;
  const stop = () => {
    signals += 1;
    if (signals === 1) channel.write(`${JSON.stringify({ stop: true })}\n`);
    else child.kill("SIGKILL");
  };
  process.on("SIGINT", stop).on("SIGTERM", stop).on("SIGHUP", stop);
  return new Promise((resolve, reject) => {
    child.on("error", (error) => reject(new Error(`setpriv and unshare (util-linux) are needed: ${error.message}`)));
    child.on("exit", (code, signal) => {
      process.off("SIGINT", stop).off("SIGTERM", stop).off("SIGHUP", stop);
      resolve(code ?? 128 + (signal === "SIGKILL" ? 9 : 15));
    });
  });
}

/** The number that a process of the sandbox has out here. */
function outerPid(unshare: number | undefined, innerPid: number): number | undefined {
  const init = readFileSync(`/proc/${unshare}/task/${unshare}/children`, "utf8").trim();
  const namespace = readlinkSync(`/proc/${init}/ns/pid`);
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .find((pid) => {
      try {
        const inner = /^NSpid:.*\t(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
        return Number(inner) === innerPid && readlinkSync(`/proc/${pid}/ns/pid`) === namespace;
      } catch {
        return false; // ended while we looked
      }
    });
}
