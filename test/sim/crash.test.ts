import { assert } from "chai";
import { full } from "../lib/requirements.ts";
import type { Outcome } from "./pool/jobs.ts";
import { Pool } from "./pool/pool.ts";
import { Tally } from "./pool/tally.ts";
import { scenarios } from "./scenarios/all.ts";

/** States that this suite is about: it proves nothing if they never come up. */
const mustBeSeen = [
  "kill: torn journal append",
  "kill: torn child mount",
  "kill: after journal append",
  "kill: after mount tmpfs",
  "kill: after bind",
  "kill: after unmount",
  "kill: after api PATCH",
  "kill: after api PUT",
  "kill: after api DELETE",
  "reboot: after journal append",
  "reboot: after bind",
  "reboot: after unmount",
  "waiting: TargetBusy",
  "waiting: StillReferenced",
  "waiting: ForeignMount",
  "waiting: ForeignMountOnTarget",
  "waiting: OperationAbandoned",
  "waiting: PathConflict",
  "deleting: still in use",
  "answer: 409",
];

describe("a process that ends at any of its effects", function () {
  this.timeout(15 * 60_000);
  const tally = new Tally();
  const outcomes = new Map<string, Promise<Outcome>>();
  let pool: Pool;

  before(() => {
    pool = new Pool();
    for (const { name } of scenarios) {
      const outcome = pool.run({ kind: "crash", scenario: name, all: full() });
      outcome.catch(() => {}); // told of by the test that waits for it
      outcomes.set(name, outcome);
    }
  });

  after(() => pool.close());

  for (const { name } of scenarios) {
    it(`converges: ${name}`, async () => {
      const outcome = await outcomes.get(name);
      assert(outcome !== undefined);
      const { crashPoints, runs, failed, failures } = outcome;
      tally.add(outcome);
      const end = failed === 0 ? "all converged" : `${failed} FAILED`;
      console.log(`  ${name}: ${crashPoints} crash points, ${runs} runs, ${end}`);
      assert.equal(failed, 0, failures.join("\n\n"));
      assert.isAbove(crashPoints, 15, "too few places to be ended at");
    });
  }

  it("came to every state that it is about", () => {
    console.log(tally.toString());
    assert.deepEqual(tally.seen.missing(mustBeSeen), []);
  });
});
