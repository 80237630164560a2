import type { Cancel, Timers } from "../../../ports.ts";
import { errnoOf } from "../syscall/errno.ts";
import { SpawnedProcess } from "./spawned-process.ts";

/** Dependencies of starting child processes. */
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
 * Starts children, and once one was needed keeps a spare one that waits to be told what to do. A start keeps a
 * processor busy for some 50 ms, at the very moment at which a volume, and others beside it, are set up. The spare one
 * costs 14 MB, on nodes that have volumes which may hang. It ends with the agent, however that ends: its input ends.
 */
export class ChildStarter {
  readonly #deps: ChildStarterDeps;
  #spare: SpawnedProcess | undefined;
  #cancel: Cancel = () => {};

  constructor(deps: ChildStarterDeps) {
    this.#deps = deps;
  }

  /**
   * @param again whether another one may soon be needed
   * @throws Errno if none could be started
   */
  start(again: boolean): SpawnedProcess {
    const spare = this.#spare;
    if (again) {
      this.#spare = undefined;
      this.#cancel();
      this.#cancel = this.#deps.timers.after(quietMs, () => this.#prepare());
      if (spare?.isRunning === true) return spare.hold(true);
    }
    return this.#spawn();
  }

  /** Ends the spare one, and keeps none any more. */
  close(): void {
    this.#cancel();
    this.#spare?.kill("SIGKILL");
    this.#spare = undefined;
  }

  #prepare(): void {
    try {
      this.#spare = this.#spawn().hold(false);
      this.#spare.stdin.on("error", () => {});
    } catch (error) {
      if (errnoOf(error) === undefined) throw error; // the next one that is needed says why it did not start
    }
  }

  #spawn(): SpawnedProcess {
    const [file, ...args] = this.#deps.command;
    return new SpawnedProcess({ file, args, env: ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"] });
  }
}
