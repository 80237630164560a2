import { expect } from "chai";
import { byUnitTests } from "../mutants/by-unit.ts";
import { seeds } from "../mutants/list.ts";
import { runProbe } from "../sim/mutations/run-probe.ts";

/** What is noticed quickly; all others: node hack/proof/mutants.ts. */
const share = seeds.filter(
  ({ kubelet, test, noticedBy }) => kubelet !== undefined && (test !== undefined || noticedBy !== undefined),
);

describe("bugs of kubelet, put into the product", function () {
  this.timeout(300_000);

  for (const { name, kubelet, test, noticedBy, edits } of share) {
    it(`are noticed: an agent or controller that ${name} (${kubelet})`, async () => {
      const { noticed, what } =
        test === undefined
          ? await runProbe({ edits, hint: noticedBy, hintOnly: true })
          : await byUnitTests(edits, [test]);
      expect(noticed, what).to.equal(true);
      console.log(`      ${what.slice(0, 160)}`);
    });
  }
});
