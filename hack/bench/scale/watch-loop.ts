// Loaded into the controller before its own code (--import): how busy its event loop is, a line each second. It cannot
// be told by the processor time that it takes, as others may use the machine, and a loop that waits for a processor is
// busy, too.
import { appendFileSync } from "node:fs";
import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import type { LoopSecond } from "./loop.ts";

/** Milliseconds between two samples of the delay; what is shorter is not seen. */
const resolution = 10;
const file = process.env["NODEVOLUME_BENCH_LOOP"];
if (file !== undefined) {
  const delay = monitorEventLoopDelay({ resolution });
  delay.enable();
  let before = performance.eventLoopUtilization();
  const tell = () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    const longestMs = Math.max(0, Math.round(delay.max / 1e6) - resolution);
    delay.reset();
    appendFileSync(file, `${JSON.stringify({ at: Date.now(), busy: utilization, longestMs } satisfies LoopSecond)}\n`);
  };
  setInterval(tell, 1_000).unref();
}
