import { setTimeout as sleep } from "node:timers/promises";
import type { RunningProcess } from "../lib/process.ts";

/**
 * A process that is started again when it ends, as a DaemonSet or Deployment would have it. It ends when it is stopped,
 * or not worth it.
 */
export interface KeptProcess extends RunningProcess {
  /** Resolves when it was started again after this call. */
  restarted(): Promise<void>;
}

/** How often in a row it may end before it has run for `livesMs`: then it is given up, and its log says why. */
const attempts = 3;
/** Milliseconds between an end and the next start. */
const pauseMs = 500;
/** Milliseconds after which a start counts as one that went well. */
const livesMs = 10_000;

export function keepProcess(start: () => RunningProcess): KeptProcess {
  let current = start();
  let stopping = false;
  let how: string | undefined;
  let waiting: (() => void)[] = [];
  const { name, logFile } = current;

  async function watch(): Promise<string> {
    for (let failures = 0; ; ) {
      const began = performance.now();
      const end = await current.ended;
      failures = performance.now() - began < livesMs ? failures + 1 : 1;
      if (stopping || failures > attempts) return end;
      await sleep(pauseMs);
      if (stopping) return end;
      current = start();
      for (const tell of waiting.splice(0)) tell();
    }
  }

  const ended = watch().then((end) => {
    how = end;
    waiting = [];
    return end;
  });
  return {
    name,
    logFile,
    ended,
    get pid() {
      return current.pid;
    },
    ending: () => how,
    kill: (signal) => current.kill(signal),
    restarted: () => new Promise((resolve) => waiting.push(resolve)),
    async stop(graceMs) {
      stopping = true;
      await current.stop(graceMs);
      await ended;
    },
  };
}
