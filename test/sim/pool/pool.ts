import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { Job, Outcome } from "./jobs.ts";

interface Pending {
  readonly job: Job;
  resolve(outcome: Outcome): void;
  reject(error: Error): void;
}

/**
 * Every run leaves a whole world to the garbage collector: the larger this is, the less often it looks what is left.
 */
const maxYoungGenerationSizeMb = 64;

/** Threads that carry out jobs in the order in which they are given, as many at a time as there are processors. */
export class Pool {
  readonly #workers: readonly Worker[];
  readonly #idle: Worker[];
  readonly #waiting: Pending[] = [];

  constructor() {
    const script = new URL("worker.ts", import.meta.url);
    this.#workers = Array.from(
      { length: availableParallelism() },
      () => new Worker(script, { resourceLimits: { maxYoungGenerationSizeMb } }),
    );
    this.#idle = [...this.#workers];
  }

  /** Rejects if the thread dies of it; that thread takes no further job. */
  run(job: Job): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ job, resolve, reject });
      this.#pump();
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }

  #pump(): void {
    const worker = this.#idle.at(-1);
    const pending = this.#waiting[0];
    if (worker === undefined || pending === undefined) return;
    this.#idle.pop();
    this.#waiting.shift();
    const died = (error: Error) => {
      pending.reject(new Error(`${JSON.stringify(pending.job)} ended its thread: ${error.stack}`));
    };
    worker.once("error", died);
    worker.once("message", (outcome: Outcome) => {
      worker.off("error", died);
      this.#idle.push(worker);
      pending.resolve(outcome);
      this.#pump();
    });
    worker.postMessage(pending.job);
    this.#pump();
  }
}
