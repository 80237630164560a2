import { expect } from "chai";
import { asMountPath } from "../../../../../src/agent/model/identities.ts";
import type { CSIRecord, StageRecord, TargetRecord } from "../../../../../src/agent/model/volume-record.ts";
import type { CSIDrivers, NodeService } from "../../../../../src/csi/ports.ts";
import { staged, target, world } from "../../executor-world.ts";

const driver = "a.example";
/** Milliseconds that a call may take, and as long may one that was not answered still take effect. */
const deadlineMs = 120_000;
const published = { path: "/csi/k/mounts/a", readOnly: false };

/**
 * A volume of a driver that stages nothing, of which a call was never answered, and what the driver is asked from then
 * on.
 */
async function unansweredWorld(targets: readonly TargetRecord[]) {
  const heard: string[] = [];
  const node = {
    info: async () => void heard.push("info"),
    unpublish: async () => void heard.push("unpublish"),
  } as unknown as NodeService;
  const one = { name: driver, endpoint: "/a.sock", node };
  const drivers: CSIDrivers = { driver: () => one, names: () => [driver], subscribe: () => () => {} };
  const csi: CSIRecord = {
    ...{ driver, volumeHandle: "v", directory: "/csi/k", needsUnstage: false, block: false },
    ...{ shown: [], calls: { unanswered: {} } },
  };
  const { identity: _nothingMounted, ...rest } = staged;
  const stage: StageRecord = { ...rest, kind: "csi", path: "/csi/k/staging", csi };
  return { ...(await world({ type: "csi", stage, targets }, { drivers })), heard };
}

describe("the release of a CSI volume with a call that was never answered (safety rule 8)", () => {
  it("asks the driver anything, so that the time of that call begins to run, and ends after it", async () => {
    const { run, heard, kept, journal, system } = await unansweredWorld([]);
    const unstage = { kind: "unstage", unmountMode: "Normal" };
    expect((await run(unstage))?.reason).to.equal("DriverMayStillAct");
    const answeredAt = { epoch: journal.epoch, ms: 0 };
    expect([heard, kept()?.stage?.csi?.calls]).to.deep.equal([["info"], { unanswered: { answeredAt } }]);
    await system.advance(deadlineMs);
    expect([await run(unstage), heard, kept()?.stage]).to.deep.equal([undefined, ["info"], undefined]);
  });

  it("keeps a target on record for as long, for the call may publish it yet", async () => {
    const { run, heard, kept, system } = await unansweredWorld([target(asMountPath("/mnt/a"), { published })]);
    const unpublish = { kind: "unpublish", path: "/mnt/a", unmountMode: "Normal" };
    expect((await run(unpublish))?.reason).to.equal("DriverMayStillAct");
    expect([heard, kept()?.targets.length]).to.deep.equal([["unpublish"], 1]);
    await system.advance(deadlineMs);
    expect([await run(unpublish), heard, kept()?.targets]).to.deep.equal([undefined, ["unpublish", "unpublish"], []]);
  });
});
