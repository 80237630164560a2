import { expect } from "chai";
import { desiredVolume } from "../../../../src/agent/desired/desired-volume.ts";
import type { VolumeName } from "../../../../src/agent/model/identities.ts";
import { Planner } from "../../../../src/agent/planner/incremental/incremental-planner.ts";
import { statusOf } from "../../../../src/agent/status/intent-status.ts";
import { transitions } from "../../../../src/agent/status/transitions.ts";
import { findCondition } from "../../../../src/api/conditions.ts";
import { MountTable } from "../../../../src/host/mount-table/mount-table.ts";
import { entry } from "../../../lib/builders/mount-entries.ts";
import { mounted, record, staged, volume, wanted } from "../../../lib/builders/plan-world.ts";

/** The planner is indifferent to whose volume it is: only drivers say how one is. */
const intent = wanted();
const root = entry({ id: 1, parent: 0, point: "/", device: "8:1", fsType: "ext4" });
const table = new MountTable([root, staged, mounted]);
const base = {
  desired: new Map([[volume, desiredVolume(intent, "key")]]),
  synced: true,
  records: new Map([[volume, record()]]),
  mayHaveLost: false,
  table,
  pendingOperations: new Map(),
  failures: new Map(),
  contents: () => ({ known: true, version: "1" }) as const,
  observed: new Map(),
  settings: { allowedPrefixes: ["/mnt/nodevolume"], stateDir: "/state", hostRoot: "/", csiDir: "/csi" },
  now: 0,
};
const abnormal = new Map([[volume, { abnormal: true, message: "the disk is failing" }]]);
const normal = new Map([[volume, { abnormal: false, message: "" }]]);

describe("what a driver says of the state of a volume", () => {
  it("is a condition while it is bad, beside a volume that is Ready, and an Event when it changes", () => {
    const planner = new Planner();
    const events = (health: ReadonlyMap<VolumeName, { abnormal: boolean; message: string }>, more: object = {}) => {
      const plan = planner.plan({ ...base, health, ...more });
      const volumePlan = plan.volumes.get(volume);
      if (volumePlan === undefined) throw new Error("not planned");
      const { conditions } = statusOf(intent, volumePlan, { agent: { bootID: "b", epoch: 1 }, now: 0 });
      const unhealthy = findCondition(conditions, "VolumeHealthy");
      const told = transitions(true, plan).map(({ type, reason, message }) => `${type} ${reason} ${message}`);
      return { ready: findCondition(conditions, "Ready")?.status, unhealthy: unhealthy?.message, told };
    };
    expect(events(new Map())).to.deep.equal({ ready: "True", unhealthy: undefined, told: [] });
    expect(events(normal), "what is well").to.deep.equal({ ready: "True", unhealthy: undefined, told: [] });
    const bad = "the disk is failing";
    const warning = `Warning VolumeConditionAbnormal ${bad}`;
    expect(events(abnormal)).to.deep.equal({ ready: "True", unhealthy: bad, told: [warning] });
    expect(events(abnormal)).to.deep.equal({ ready: "True", unhealthy: bad, told: [] });
    const running = { pendingOperations: new Map([[volume, "republish"]]) };
    const planned = { ready: "True", unhealthy: bad, told: [] };
    expect(events(abnormal, running), "planned anew for something else").to.deep.equal(planned);
    const good = "Normal VolumeConditionNormal VolumeConditionNormal";
    expect(events(normal)).to.deep.equal({ ready: "True", unhealthy: undefined, told: [good] });
    expect(events(new Map())).to.deep.equal({ ready: "True", unhealthy: undefined, told: [] });
  });
});
