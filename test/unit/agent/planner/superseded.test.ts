import { expect } from "chai";
import { asMountPath } from "../../../../src/agent/model/identities.ts";
import type { Action, Operation } from "../../../../src/agent/model/operation.ts";
import { summaryOf } from "../../../../src/agent/status/volume-summary.ts";
import { mounted, planned, prefix, record, staged, volume, wanted } from "../../../lib/builders/plan-world.ts";
import { FakeAgent, held } from "../fake-agent.ts";

const on = (point: string, generation: number) => wanted({ generation, mounts: [{ path: `/mnt/${point}` }] });

const path = asMountPath(`${prefix}/a`);
const other = asMountPath(`${prefix}/b`);

/** A volume that is as its second spec wants it, while an operation runs that was begun for one of them. */
function stands(action: Action, begunFor = 1) {
  const operation: Operation = { volume, ...action };
  const begun = new Map([[volume, { operation, generation: begunFor, at: 0 }]]);
  const input = { pendingOperations: new Map([[volume, action.kind]]), begun };
  return summaryOf(
    planned({ intents: [wanted({ generation: 2 })], records: [record()], mounts: [staged, mounted], input }),
  );
}

describe("a volume that is as it should be, while something runs that was begun for an earlier spec", () => {
  const changing: readonly Action[] = [
    { kind: "stage" },
    { kind: "refresh" },
    { kind: "reconfigure", mountID: 10 },
    { kind: "publish", path, replaces: 20 },
    { kind: "setAttributes", path, mountID: 20 },
    { kind: "unpublish", path, mountID: 20, unmountMode: "Normal" },
    { kind: "unstage", unmountMode: "Normal" },
  ];
  for (const action of changing) {
    it(`is not said to be mounted before it has ended: ${action.kind}`, () => {
      expect(stands(action)).to.deep.include({ ready: "False", reason: "Progressing", message: action.kind });
      expect(stands(action, 2), "begun for this one").to.deep.include({ state: "Mounted", ready: "True" });
    });
  }

  it("is mounted where that changes nothing of it: another target that is not asked for, what is only written or looked at", () => {
    const harmless: readonly Action[] = [
      { kind: "unpublish", path: other, unmountMode: "Normal" },
      { kind: "publish", path: other },
      { kind: "note", path, mountID: 20 },
      { kind: "expand" },
      { kind: "observe" },
    ];
    for (const action of harmless) expect(stands(action), action.kind).to.include({ state: "Mounted", ready: "True" });
  });

  it("is not mounted while a spec that was taken back is at work", async () => {
    const agent = await FakeAgent.start();
    await agent.want(on("a", 1));
    const ready = () => {
      const plan = agent.plan?.volumes.get(volume);
      return plan && summaryOf(plan).ready;
    };
    expect(ready()).to.equal("True");
    const changing = held();
    agent.host.before = (call) => (call === "unmount /mnt/a" ? changing.promise : Promise.resolve());
    await agent.want(on("b", 2));
    await agent.want(on("a", 3));
    expect(agent.mounted, "there still").to.include("/mnt/a");
    expect(agent.plan?.volumes.get(volume)?.running).to.equal("unpublish");
    expect(ready(), "as it should be, and about to be changed").to.equal("False");

    changing.release();
    await agent.look();
    expect(agent.mounted).to.deep.equal(["/mnt/a"]);
    expect(ready()).to.equal("True");
    await agent.loop.stop();
  });
});
