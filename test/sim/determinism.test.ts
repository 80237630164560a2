import { assert } from "chai";
import { Admission } from "./api/admission.ts";
import { type RunInput, runScenario } from "./run-scenario.ts";
import { scenarios } from "./scenarios/all.ts";

describe("a simulated world", function () {
  this.timeout(600_000);
  const admission = new Admission();

  for (const scenario of scenarios) {
    it(`is the same for the same seed: ${scenario.name}`, async () => {
      const inputs: RunInput[] = [
        { seed: 7 },
        { seed: 8, stormy: true },
        { seed: 1, crash: { effect: 9, moment: "torn", ending: "kill" } },
      ];
      for (const input of inputs) {
        const [first, second] = [
          await runScenario(scenario, input, admission),
          await runScenario(scenario, input, admission),
        ];
        assert(
          `${first.world.trace}` === `${second.world.trace}`,
          `two traces differ: ${firstDifference(first.world.trace, second.world.trace)}`,
        );
      }
    });
  }

  it("is another one for another seed", async () => {
    const [scenario] = scenarios;
    assert(scenario !== undefined);
    const traces = await Promise.all([1, 2].map((seed) => runScenario(scenario, { seed }, admission)));
    assert.notEqual(`${traces[0]?.world.trace}`, `${traces[1]?.world.trace}`);
  });
});

function firstDifference(a: object, b: object): string {
  const [left, right] = [`${a}`.split("\n"), `${b}`.split("\n")];
  const index = left.findIndex((line, i) => line !== right[i]);
  return `\n${left[index]}\n${right[index]}`;
}
