import { assert } from "chai";
import { slowSuite } from "../../hack/lib/lanes/slow.ts";
import { full } from "../lib/asserts/requirements.ts";
import type { Job } from "./pool/jobs.ts";
import { Pool } from "./pool/pool.ts";
import { Tally } from "./pool/tally.ts";

/** At every push 500 pairs; `pairs.ts` tells as many as wanted. */
const share = full() ? { seeds: 1_000, leastPairs: 16_000 } : { seeds: 32, leastPairs: 500 };
/** Seeds take the scenarios in turn: so few are taken from the whole list. */
const stride = 3;
const mostShown = 3;

/** Ends that recovery is about: this suite proves nothing if they never come up. */
const mustBeSeen = [
  "kill: torn journal append",
  "kill: after journal append",
  "kill: after unmount",
  "kill: after api PATCH",
  "reboot: after journal append",
] as const;

slowSuite("a process that ends at one of its effects, and the next run of it, too", function () {
  this.timeout(20 * 60_000);

  it(`converges: ${share.seeds} seeds`, async () => {
    const pool = new Pool();
    const jobs = Array.from({ length: share.seeds }, (_, i): Job => {
      return { kind: "pairs", firstSeed: 1 + i * stride, seeds: 1 };
    });
    const outcomes = await Promise.all(jobs.map((job) => pool.run(job))).finally(() => pool.close());
    const tally = new Tally();
    for (const outcome of outcomes) tally.add(outcome);
    const pairs = outcomes.reduce((sum, outcome) => sum + outcome.pairs, 0);
    console.log(`  ${pairs} pairs:\n${tally}`);
    const failures = outcomes.flatMap((outcome) => outcome.failures);
    assert.equal(failures.length, 0, failures.slice(0, mostShown).join("\n\n"));
    assert.isAtLeast(pairs, share.leastPairs);
    assert.deepEqual(tally.seen.missing(mustBeSeen), []);
  });
});
