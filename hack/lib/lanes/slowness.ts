// How slow this machine is at the moment, beside a quiet one of the kind that the deadlines of the tests were written
// on.
import { createHash } from "node:crypto";
import { availableParallelism } from "node:os";
import { isMainThread, parentPort, Worker } from "node:worker_threads";

/** In the environment of every lane: the factor that measureSlowness gave. */
export const slownessVariable = "NODEVOLUME_SLOWNESS";

/** Milliseconds that the loop takes on a quiet machine. */
const quietMs = 105;
/** Deadlines are not stretched further: a machine that is slower fails for a reason that says so. */
const most = 8;

/** How many times longer a fixed loop takes than on a quiet machine, on all processors at once; at least 1. */
export async function measureSlowness(): Promise<number> {
  const rounds: number[] = [];
  for (let round = 0; round < 3; round += 1) rounds.push(await slowestProcessor());
  const [, median = quietMs] = rounds.sort((a, b) => a - b);
  return Math.min(most, Math.max(1, Math.round((median / quietMs) * 10) / 10));
}

async function slowestProcessor(): Promise<number> {
  const workers = Array.from({ length: availableParallelism() }, () => new Worker(new URL(import.meta.url)));
  const times = workers.map(
    (worker) => new Promise<number>((resolve, reject) => worker.on("message", resolve).on("error", reject)),
  );
  return Math.max(...(await Promise.all(times)));
}

function loop(): number {
  const started = performance.now();
  let digest = Buffer.alloc(64);
  for (let round = 0; round < 40_000; round += 1) digest = createHash("sha256").update(digest).digest();
  return performance.now() - started;
}

if (!isMainThread) parentPort?.postMessage(loop());
