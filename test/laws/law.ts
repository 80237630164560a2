import fc from "fast-check";
import { full } from "../lib/asserts/requirements.ts";
import { Reached } from "./reached.ts";

/**
 * The same worlds each time: a run that is red today was not green yesterday by luck. --full takes others each time.
 */
export const usualSeed = 3;
const fullFactor = 20;

export interface Law<T> {
  readonly worlds: fc.Arbitrary<T>;
  /** Worlds that it is tried in; twenty times as many with --full. */
  readonly runs: number;
  /** States without which the law says nothing: each must have been reached. */
  readonly reaches: readonly string[];
  /** @throws Error if the law does not hold, naming what broke it */
  check(world: T, reached: Reached): void | Promise<void>;
}

/**
 * A test that a law holds in random worlds. A failure prints the smallest world that was found and its seed, which
 * NODEVOLUME_LAWS_SEED takes. NODEVOLUME_LAWS_RUNS is for mutations.test.ts: that many runs, and only the law itself
 * counts.
 */
export function law<T>(title: string, { worlds, runs, reaches, check }: Law<T>): void {
  it(title, async function () {
    this.timeout(full() ? 1_200_000 : 120_000);
    const mutated = process.env["NODEVOLUME_LAWS_RUNS"];
    const given = process.env["NODEVOLUME_LAWS_SEED"];
    const seed = given !== undefined ? Number(given) : full() ? undefined : usualSeed;
    const numRuns = mutated !== undefined ? Number(mutated) : full() ? runs * fullFactor : runs;
    const reached = new Reached();
    const property = fc.asyncProperty(worlds, async (world) => check(world, reached));
    await fc.assert(property, { numRuns, endOnFailure: mutated !== undefined, ...(seed !== undefined && { seed }) });
    if (mutated !== undefined) return;
    console.log(`      ${title}: ${numRuns} worlds; ${reached}`);
    const missed = reaches.filter((what) => reached.of(what) === 0);
    if (missed.length > 0) throw new Error(`these were never reached: ${missed.join(", ")}`);
  });
}
