import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { Socket } from "node:net";
import type { Cancel, Timers } from "../../ports.ts";

export interface ChildStarterDeps {
  readonly timers: Timers;
  /** Our own program in the role `child`. */
  readonly command: readonly [string, ...string[]];
}

/**
 * How long no child was started before a spare one is, in milliseconds: what is set up together with the volume that
 * needed the last one shall not wait for its start.
 */
const quietMs = 2_000;

/**
 * Starts children, and once one was needed keeps a spare one that waits to be told what to do. A start holds the agent's
 * thread up for 1 to 7 ms and keeps a processor busy for some 50 ms, at the very moment at which a volume, and others
 * beside it, are set up. The spare one costs 14 MB, on nodes that have volumes which may hang. It ends with the agent: its
 * input ends.
 */
export class ChildStarter {
  readonly #deps: ChildStarterDeps;
  #spare: ChildProcessWithoutNullStreams | undefined;
  #cancel: Cancel = () => {};

  constructor(deps: ChildStarterDeps) {
    this.#deps = deps;
  }

  /** @param again whether another one may soon be needed */
  start(again: boolean): ChildProcessWithoutNullStreams {
    const spare = this.#spare;
    if (again) {
      this.#spare = undefined;
      this.#cancel();
      this.#cancel = this.#deps.timers.after(quietMs, () => this.#prepare());
      if (spare !== undefined && isRunning(spare)) return hold(spare, true);
    }
    return this.#spawn();
  }

  #prepare(): void {
    const spare = this.#spawn();
    spare.on("error", () => {}); // it did not start: the next one that is needed says why
    if (spare.pid === undefined) return; // without descriptors it has no pipes either
    spare.stdin.on("error", () => {});
    this.#spare = hold(spare, false);
  }

  #spawn(): ChildProcessWithoutNullStreams {
    const [file, ...args] = this.#deps.command;
    return spawn(file, args, { stdio: ["pipe", "pipe", "pipe"], env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" } });
  }
}

function isRunning({ pid, exitCode, signalCode }: ChildProcess): boolean {
  return pid !== undefined && exitCode === null && signalCode === null;
}

/** Whether the agent's process stays for it. */
function hold(child: ChildProcessWithoutNullStreams, held: boolean): ChildProcessWithoutNullStreams {
  for (const part of [child, child.stdin, child.stdout, child.stderr]) {
    if (part !== child && !(part instanceof Socket)) continue;
    if (held) part.ref();
    else part.unref();
  }
  return child;
}
