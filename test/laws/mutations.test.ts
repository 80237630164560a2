import { expect } from "chai";
import { slowSuite } from "../../hack/lib/lanes/slow.ts";
import type { Mutant } from "./mutants/mutant.ts";
import { mutants } from "./mutants/mutants.ts";
import { type Outcome, runMutant } from "./mutants/run-mutant.ts";

/** As many as the machine has to have cores. */
const atOnce = 2;

slowSuite("Breaking the agent on purpose", function () {
  this.timeout(300_000);
  const outcomes = new Map<Mutant, Promise<Outcome>>();

  before(() => {
    const waiting = [...mutants];
    const results = new Map(mutants.map((mutant) => [mutant, Promise.withResolvers<Outcome>()]));
    for (const [mutant, { promise }] of results) {
      promise.catch(() => "is told by the test of the mutant");
      outcomes.set(mutant, promise);
    }
    const work = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const result = results.get(next);
        await runMutant(next).then(result?.resolve, result?.reject);
      }
    };
    for (let i = 0; i < atOnce; i++) void work();
  });

  it("is noticed only if something is broken", async () => {
    const [first] = mutants;
    if (first === undefined) throw new Error("no mutants");
    const outcome = await runMutant({ ...first, to: first.from, runs: 200 });
    expect(outcome.failures).to.deep.equal([]);
    expect(outcome.passed).to.be.greaterThan(0);
  });

  for (const mutant of mutants) {
    it(`${mutant.law} notices an agent that ${mutant.what}`, async () => {
      const { failures } = (await outcomes.get(mutant)) ?? { failures: [] };
      expect(failures, "tests of the law that failed").to.have.lengthOf(1);
      expect(failures[0]).to.include("Property failed after"); // the law itself, not an error on the way to it
    });
  }
});
