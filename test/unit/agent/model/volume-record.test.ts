import { expect } from "chai";
import { afterReboot, nothingShown, type VolumeRecord, withTarget } from "../../../../src/agent/model/volume-record.ts";
import type { TearDownData } from "../../../../src/plugins/api/teardown-data.ts";
import { record, stageRecord, targetRecord } from "../../../lib/builders/plan-world.ts";

const csi = {
  driver: "disk.example",
  volumeHandle: "vol",
  directory: "/csi/vol",
  needsUnstage: true,
  block: false,
  shown: [{ identity: { device: "8:16", root: "/" } }],
  calls: { sent: true },
};

describe("the record of a volume", () => {
  it("has one target for each path, the newest", () => {
    const { targets } = withTarget(record(), targetRecord({ mountID: 21 }));
    expect(targets.map(({ mountID }) => mountID)).to.deep.equal([21]);
  });

  it("has no child, pod or mount of before a reboot, but the directories that it made", () => {
    const pod = { uid: "p", volume: "v", namespace: "team", name: "p" };
    const before = record({
      child: { pid: 7, startTime: 9 },
      targets: [targetRecord({ pod, peerGroup: 3, uniqueID: 5 })],
    });
    const after = afterReboot(before);
    expect(after).not.to.have.property("child");
    const { path, name, uid, kind, made, attributes } = targetRecord();
    expect(after.targets).to.deep.equal([{ path, name, uid, kind, made, attributes, identity: nothingShown }]);
  });

  it("has nothing that a driver was to do before a reboot, but has it unstage", () => {
    const before: VolumeRecord = record({ stage: stageRecord({ kind: "csi", deviceNumber: "8:16", csi }) });
    const { stage } = afterReboot(before);
    expect(stage?.csi).to.deep.equal({ ...csi, shown: [], calls: {} });
    expect(stage).to.include({ kind: "csi", ready: false });
    expect(stage).not.to.have.any.keys("identity", "deviceNumber");
  });

  it("has over a reboot what is to be undone, whatever it was staged as", () => {
    const undo = { commands: ["logout"] } as unknown as TearDownData;
    const of = (more: object) => afterReboot(record({ stage: stageRecord({ kind: "device", ...more }) })).stage;
    expect(of({ undo })).to.deep.include({ undo, ready: false });
    expect(of({})).to.equal(undefined);
  });
});
