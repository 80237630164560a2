import { Sightings } from "../sightings.ts";
import type { Outcome } from "./jobs.ts";

/** What many jobs came to. */
export class Tally {
  readonly seen = new Sightings();
  #runs = 0;
  #ms = 0;

  add({ runs, ms, seen }: Outcome): void {
    this.#runs += runs;
    this.#ms += ms;
    this.seen.merge(seen);
  }

  /** How fast it was, and how often each state came up. */
  toString(): string {
    const rate = (this.#runs / this.#ms) * 1000;
    return `  ${this.#runs} runs, ${rate.toFixed(0)} a second of processor time of a thread; seen:\n${this.seen}`;
  }
}
