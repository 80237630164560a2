import { expect } from "chai";
import { summaryOf } from "../../../../src/agent/status/volume-summary.ts";
import { planned, record, staged, targetRecord, wanted } from "../../../lib/builders/plan-world.ts";

describe("the summary of a volume's plan", () => {
  const before = { intents: [wanted()], records: [record({ targets: [targetRecord()] })], mounts: [staged] };

  it("is computed once: each listener of the plan has the same", () => {
    const plan = planned(before);
    const summary = summaryOf(plan);
    expect(summary).to.include({ ready: "False" });
    expect(summary.drift).to.include({ class: "Missing" });
    expect(summaryOf(plan)).to.equal(summary);
    const another = summaryOf({ ...plan });
    expect(another).to.deep.equal(summary);
    expect(another === summary).to.equal(false);
  });
});
