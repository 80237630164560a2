import { setTimeout as sleep } from "node:timers/promises";
import { PlainPlanner } from "./plain-planner.ts";

/** Milliseconds from the begin of one plan to that of the next, at least. Set by the bundle. */
declare const planSpacingMs: number;

/**
 * The plain planner by the name that the agent has for its planner; the loop waits for its turn before each plan.
 * @public bundle.ts puts this file in the place of the agent's planner
 */
export class Planner extends PlainPlanner {
  #begunAt = Number.NEGATIVE_INFINITY;

  /** Waits until the next plan may be made: at once, if the last one was long ago. */
  async turn(): Promise<void> {
    const ms = this.#begunAt + planSpacingMs - performance.now();
    if (ms > 0) await sleep(ms);
    this.#begunAt = performance.now();
  }
}
