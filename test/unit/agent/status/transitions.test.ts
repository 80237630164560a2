import { expect } from "chai";
import type { Plan } from "../../../../src/agent/model/volume-plan.ts";
import { transitions } from "../../../../src/agent/status/transitions.ts";
import { mounted, planWorld, record, staged, targetRecord, wanted } from "../../../lib/builders/plan-world.ts";

const settled = { intents: [wanted()], records: [record()], mounts: [staged, mounted] };
const vanished = { ...settled, intents: [] };

const told = (before: Plan | undefined, after: Plan) => {
  const changed = new Map([...after.volumes.keys()].map((name) => [name, before?.volumes.get(name)]));
  const found = transitions(before?.synced === true, { ...after, changed });
  return found.map(({ type, reason, message }) => ({ type, reason, message }));
};

describe("transitions", () => {
  it("says once that an intent vanished, and what stays mounted", () => {
    const [before, after] = [planWorld(settled), planWorld(vanished)];
    const [first] = told(before, after);
    expect(first).to.include({ type: "Warning", reason: "UnexplainedRemoval" });
    expect(first?.message).to.contain("/mnt/nodevolume/a stays mounted");
    expect(told(after, planWorld(vanished))).to.deep.equal([]);
  });

  it("says so too of one that vanished while no agent ran, but not before the intents were read", () => {
    const unread = planWorld({ ...vanished, input: { synced: false } });
    expect(told(undefined, unread)).to.deep.equal([]);
    expect(told(unread, planWorld(vanished))).to.have.length(1);
    expect(told(unread, planWorld(settled))).to.deep.equal([]);
  });

  it("a volume that was released, or is retained, is no news when its intent goes", () => {
    const { stage: _stage, ...empty } = record({ targets: [] });
    const deleting = [wanted({ deleting: true, generation: 2 })];
    const released = { intents: deleting, records: [empty] };
    expect(told(planWorld(released), planWorld({ ...released, intents: [] }))).to.deep.equal([]);
    const kept = { ...settled, records: [record({ retained: true })] };
    expect(told(planWorld({ ...kept, intents: deleting }), planWorld({ ...kept, intents: [] }))).to.deep.equal([]);
  });

  it("a mount that is there, and not noted yet, is told once it is noted", () => {
    const { mountID: _, ...unnoted } = targetRecord();
    const plans = [
      planWorld({ intents: [wanted()] }),
      planWorld({ ...settled, records: [record({ targets: [unnoted] })] }),
      planWorld(settled),
    ];
    expect(told(plans[0], plans[1] ?? expect.fail())).to.deep.equal([]);
    expect(told(plans[1], plans[2] ?? expect.fail()).map(({ message }) => message)).to.deep.equal(["Mounted"]);
  });

  it("a volume that is found as it should be when the agent starts is no news", () => {
    expect(told(undefined, planWorld(settled))).to.deep.equal([]);
  });
});
