import { setTimeout as sleep } from "node:timers/promises";
import type { RunningProcess } from "../process.ts";

/** Milliseconds from an end to the next start: a kubelet takes longer. */
const pause = 200;

/**
 * A process that is started again whenever it ends, as a container of a pod is, until it is stopped: sidecars end when
 * they lose their driver. `pid` and `kill` are of the one that runs now.
 */
export function keptRunning(start: () => RunningProcess): RunningProcess {
  let current = start();
  let stopped = false;
  const ended = (async () => {
    for (;;) {
      const how = await current.ended;
      if (stopped) return how;
      await sleep(pause);
      if (stopped) return how;
      current = start();
    }
  })();
  let how: string | undefined;
  void ended.then((text) => {
    how = text;
  });
  return {
    name: current.name,
    logFile: current.logFile,
    ended,
    get pid() {
      return current.pid;
    },
    ending: () => how,
    kill: (signal) => current.kill(signal),
    async stop(graceMs) {
      stopped = true;
      // A stopped one (SIGSTOP) would not hear SIGTERM.
      current.kill("SIGCONT");
      await current.stop(graceMs);
      await ended;
    },
  };
}
