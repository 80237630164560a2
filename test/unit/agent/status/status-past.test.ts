import { expect } from "chai";
import type { Failure } from "../../../../src/agent/model/failure.ts";
import type { VolumePlan } from "../../../../src/agent/model/volume-plan.ts";
import { statusOf } from "../../../../src/agent/status/intent-status.ts";
import type { NodeVolumeIntentStatus } from "../../../../src/api/types.gen.ts";
import {
  mounted,
  planned,
  record,
  staged,
  stageRecord,
  volume,
  type World,
  wanted,
} from "../../../lib/builders/plan-world.ts";

const settled = { intents: [wanted()], records: [record()], mounts: [staged, mounted] };
const context = { agent: { bootID: "boot-1", epoch: 3 }, now: Date.parse("2026-01-01T00:00:00Z") };

function statusAfter(world: World, previous: Partial<NodeVolumeIntentStatus> = {}, more: Partial<VolumePlan> = {}) {
  const [object] = world.intents ?? [];
  if (object === undefined) throw new Error("no intent");
  const status = { observedUID: object.metadata.uid ?? "", ...previous } as NodeVolumeIntentStatus;
  return statusOf({ ...object, status }, { ...planned(world), ...more }, context);
}

describe("what a status takes over, and what not", () => {
  it("is in use as long as it is, not because it was", () => {
    const released = { intents: [wanted({ deleting: true, generation: 2 })] };
    expect(statusAfter(released, { inUse: true, state: "Unmounting" })).to.include({ inUse: false, state: "Released" });
  });

  it("is in use from the moment on that something is being set up, before there is a record", () => {
    const world = (kind: "stage" | "observe") => ({
      intents: [wanted()],
      input: { pendingOperations: new Map([[volume, kind]]) },
    });
    expect(statusAfter(world("stage")).inUse).to.equal(true);
    expect(statusAfter(world("observe")).inUse).to.equal(false);
  });

  it("keeps the last error until the volume is ready", () => {
    const lastError = {
      reason: "SetUpFailed",
      message: "m",
      operation: "stage",
      time: "2026-01-01T00:00:00Z",
    } as const;
    expect(statusAfter({ ...settled, mounts: [staged] }, { lastError }).lastError).to.deep.equal(lastError);
    expect(statusAfter(settled, { lastError }).lastError).to.equal(undefined);
    const failure = {
      reason: "DeviceBusy",
      message: "busy",
      kind: "unstage",
      time: context.now,
      nextTime: context.now,
    } as unknown as Failure;
    expect(statusAfter(settled, { lastError }, { failure }).lastError).to.include({
      reason: "DeviceBusy",
      message: "busy",
    });
  });

  it("says the size that it has reached", () => {
    const records = [record({ stage: stageRecord({ capacityBytes: "4096" }) })];
    expect(statusAfter({ ...settled, records }).capacityBytes).to.equal("4096");
  });

  it("is not ready once the kernel has made it read-only, and says why", () => {
    const { state, conditions } = statusAfter({ ...settled, mounts: [{ ...staged, superOptions: ["ro"] }, mounted] });
    const ready = conditions?.find(({ type }) => type === "Ready");
    expect([state, ready?.status, ready?.reason]).to.deep.equal(["Degraded", "False", "FilesystemReadOnly"]);
  });
});
