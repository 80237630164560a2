import { expect } from "chai";
import type { TargetRecord } from "../../../../src/agent/model/volume-record.ts";
import type { MountEntry } from "../../../../src/host/mount-table/mountinfo.ts";
import { entry } from "../../../lib/builders/mount-entries.ts";
import { mounted, planned, prefix, record, staged, targetRecord, wanted } from "../../../lib/builders/plan-world.ts";

const path = `${prefix}/a`;
const foreign = entry({ id: 30, point: path, device: "0:99" });
const over = entry({ id: 30, parent: 20, point: path, device: "0:99" });
const under = entry({ id: 15, point: path, device: "0:99" });
const above = entry({ id: 20, parent: 15, point: path });
const elsewhere = entry({ id: 20, point: `${prefix}/renamed/a` });
const sameDisk = entry({ id: 30, point: path, root: "/other" });
const { mountID: _unknown, ...unlearned } = targetRecord();

describe("a target, by the mounts on its path and its record", () => {
  const cases: readonly [string, readonly MountEntry[] | "unreadable", TargetRecord | undefined, string][] = [
    ["the table cannot be read", "unreadable", targetRecord(), "uncertain"],
    ["nothing is there, and nothing was", [], undefined, "absent"],
    ["nothing is there, and ours was", [], targetRecord(), "absent, Missing"],
    ["nothing is there, and ours is elsewhere", [elsewhere], targetRecord(), "uncertain, Missing, TargetMoved"],
    ["another is there, without a record", [foreign], undefined, "absent, ForeignMount"],
    ["another is there, in place of ours", [foreign], targetRecord(), "absent, SourceDiffers, ForeignMount"],
    [
      "another is there, and ours is elsewhere",
      [foreign, elsewhere],
      targetRecord(),
      "uncertain, SourceDiffers, TargetMoved",
    ],
    ["one is there that may be ours", [sameDisk], unlearned, "uncertain, SourceDiffers, ForeignMount"],
    ["ours is covered", [mounted, over], targetRecord(), "uncertain, Stacked, ForeignMountOnTarget"],
    ["ours covers another one", [under, above], targetRecord(), "uncertain, Stacked, ForeignMountBeneath"],
    ["ours is there alone", [mounted], targetRecord(), "mounted"],
  ];
  for (const [title, mounts, known, expected] of cases) {
    it(`${title}: ${expected}`, () => {
      const plan = planned({
        intents: [wanted()],
        records: [record({ targets: known === undefined ? [] : [known] })],
        mounts: mounts === "unreadable" ? mounts : [staged, ...mounts],
      });
      const [target] = plan.actualState.targets;
      const seen = [target?.truth, target?.drift, target?.problem?.reason].filter((one) => one !== undefined);
      expect(seen.join(", ")).to.equal(expected);
    });
  }
});
