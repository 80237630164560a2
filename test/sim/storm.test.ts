import { assert } from "chai";
import { full } from "../lib/requirements.ts";
import type { Outcome } from "./pool/jobs.ts";
import { Pool } from "./pool/pool.ts";
import { Tally } from "./pool/tally.ts";

/** How many seeds are tried; NODEVOLUME_SIM_SEEDS says otherwise. */
const seeds = { ci: 1_200, full: 20_000 } as const;
const seedsPerJob = 100;

/** Faults and states that a storm must have brought. */
const mustBeSeen = [
  "fault: lost",
  "fault: refused",
  "fault: 429",
  "fault: 500",
  "fault: 500, carried out",
  "fault: 503",
  "answer: 409",
  "host fault: journal append",
  "host fault: journal append, carried out",
  "host fault: bind, carried out",
  "host fault: unmount, carried out",
  "watch fault: refused",
  "watch ended: reset",
  "watch ended: 410",
  "kill: torn journal append",
  "kill: after bind",
  "reboot: after journal append",
  "state: Unmounting",
  "deleting: still in use",
];

describe("a storm of faults", function () {
  this.timeout(60 * 60_000);
  const wanted = Number(process.env["NODEVOLUME_SIM_SEEDS"] || (full() ? seeds.full : seeds.ci));
  const first = Number(process.env["NODEVOLUME_SIM_FIRST_SEED"] || 1);
  const tally = new Tally();
  let pool: Pool;

  before(() => {
    pool = new Pool();
  });

  after(() => pool.close());

  it(`ends, and the world converges: ${wanted} seeds from ${first}`, async () => {
    const outcomes: Promise<Outcome>[] = [];
    for (let seed = first; seed < first + wanted; seed += seedsPerJob) {
      const count = Math.min(seedsPerJob, first + wanted - seed);
      outcomes.push(pool.run({ kind: "storm", firstSeed: seed, seeds: count }));
    }
    const failures: string[] = [];
    for (const outcome of await Promise.all(outcomes)) {
      tally.add(outcome);
      failures.push(...outcome.failures);
    }
    console.log(tally.toString());
    assert.equal(failures.length, 0, failures.slice(0, 3).join("\n\n"));
  });

  it("came to every state that it is about", () => {
    assert.deepEqual(tally.seen.missing(mustBeSeen), []);
  });
});
