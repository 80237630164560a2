import { expect } from "chai";
import { desiredVolume } from "../../../../../src/agent/desired/desired-volume.ts";
import type { Failure } from "../../../../../src/agent/model/failure.ts";
import { asIntentUID, asMountPath } from "../../../../../src/agent/model/identities.ts";
import type { PlanInput } from "../../../../../src/agent/model/plan-input.ts";
import type { Plan } from "../../../../../src/agent/model/volume-plan.ts";
import type { Published, VolumeRecord } from "../../../../../src/agent/model/volume-record.ts";
import { Planner } from "../../../../../src/agent/planner/incremental/incremental-planner.ts";
import { statusOf } from "../../../../../src/agent/status/intent-status.ts";
import { MountTable } from "../../../../../src/host/mount-table/mount-table.ts";
import { entry } from "../../../../lib/builders/mount-entries.ts";
import { failuresAt, prefix, targetRecord, volume, wanted } from "../../../../lib/builders/plan-world.ts";

const identity = { device: "0:50", root: "/", source: "tmpfs" };
const source = { csi: { driver: "a.example", volumeHandle: "v" } };
const path = "/csi/k/staging";
const target = asMountPath(`${prefix}/a`);
/** Its name says that it waits for 60 s. */
const publishPath = "/csi/k/mounts/0000000080000000";
const root = entry({ id: 1, parent: 0, point: "/", device: "8:1", fsType: "ext4", uniqueID: 1 });
const mounts = [path, publishPath, target].map((point, i) => entry({ id: 10 + i, point, uniqueID: 10 + i }));
const grant = { id: "g", csi: { ...source.csi, accessMode: "ReadWriteOnce" as const, requiresRepublish: true } };
const intent = wanted({ source, grant });

function recorded(at: Published["at"]): VolumeRecord {
  const published = { path: publishPath, readOnly: false, identity, ...(at && { at }) };
  const csi = {
    ...source.csi,
    directory: "/csi/k",
    needsUnstage: true,
    block: false,
    shown: [{ identity }],
    calls: {},
  };
  return {
    name: volume,
    key: "key",
    type: "csi",
    uid: asIntentUID("uid-1"),
    generation: 1,
    stage: { kind: "csi", path, ready: true, options: [], fileKind: "directory", identity, csi },
    targets: [targetRecord({ identity, published, mountID: 12 })],
  };
}

function input(now: number, more: Partial<PlanInput> & { readonly record?: VolumeRecord } = {}): PlanInput {
  const { record = recorded({ epoch: 1, ms: 0 }), ...rest } = more;
  return {
    desired: new Map([[volume, desired]]),
    synced: true,
    records: new Map([[volume, record]]),
    mayHaveLost: false,
    table,
    pendingOperations: new Map(),
    failures: new Map(),
    contents: () => ({ known: true, version: "1" }),
    observed: new Map(),
    settings,
    now,
    epoch: 1,
    ...rest,
  };
}

const settings = { allowedPrefixes: [prefix], stateDir: "/state", hostRoot: "/", csiDir: "/csi" };
const table = new MountTable([root, ...mounts]);
const desired = desiredVolume(intent, "key");
const kinds = ({ operations }: Plan) => operations.map(({ kind }) => kind);
const status = (plan: Plan) => {
  const found = plan.volumes.get(volume);
  if (found === undefined) throw new Error("not planned");
  return statusOf(intent, found, { agent: { bootID: "b", epoch: 1 }, now: 0 });
};

describe("NodePublishVolume again, as the driver asks (kubelet behaviours 19 and 78)", () => {
  it("is due when a minute is over, by the time alone, and then is woken for", () => {
    const planner = new Planner();
    const before = planner.plan(input(59_999));
    expect([kinds(before), before.wakeAt]).to.deep.equal([[], 60_000]);
    expect(kinds(planner.plan(input(60_000)))).to.deep.equal(["republish"]);
    const after = planner.plan(input(60_100, { record: recorded({ epoch: 1, ms: 60_050 }) }));
    expect([kinds(after), after.wakeAt]).to.deep.equal([[], 120_050]);
  });

  it("is due at once of what another run of the agent has published", () => {
    expect(kinds(new Planner().plan(input(5, { record: recorded(undefined) })))).to.deep.equal(["republish"]);
    expect(kinds(new Planner().plan(input(5, { record: recorded({ epoch: 2, ms: 4 }) })))).to.deep.equal(["republish"]);
  });

  it("is never asked for by others, nor before what is wrong is mended", () => {
    const { requiresRepublish: _asks, ...quiet } = grant.csi;
    const other = desiredVolume(wanted({ source, grant: { id: "g", csi: quiet } }), "key");
    expect(kinds(new Planner().plan(input(60_000, { desired: new Map([[volume, other]]) })))).to.deep.equal([]);
    const without = new MountTable([root, ...mounts.slice(0, 2)]);
    expect(kinds(new Planner().plan(input(60_000, { table: without })))).to.deep.equal(["publish"]);
    const readOnly = {
      ...desired,
      mounts: desired.mounts.map((m) => ({ ...m, attributes: { ...m.attributes, readOnly: true } })),
    };
    const failed = {
      kind: "publish",
      errorClass: "final",
      reason: "DriverFailed",
      message: "no",
      generation: 1,
    } as const;
    const times = { attempts: 1, firstAt: 0, nextAt: 90_000, time: 0, nextTime: 0 };
    const failures = failuresAt([
      { volume, path: target },
      { ...failed, ...times },
    ]);
    const differently = input(60_000, { desired: new Map([[volume, readOnly]]), failures });
    expect(kinds(new Planner().plan(differently)), "as it was, when it is to be in another way").to.deep.equal([]);
    const suspended = { ...desired, suspend: true };
    expect(kinds(new Planner().plan(input(60_000, { desired: new Map([[volume, suspended]]) })))).to.deep.equal([]);
  });

  it("changes nothing in the status, before, while and after it runs", () => {
    const at = (now: number, more?: Parameters<typeof input>[1]) => status(new Planner().plan(input(now, more)));
    const quiet = at(0);
    expect(quiet).to.include({ state: "Mounted" });
    expect(at(60_000)).to.deep.equal(quiet);
    const pendingOperations = new Map([[volume, "republish" as const]]);
    expect(at(60_000, { pendingOperations })).to.deep.equal(quiet);
    const twice = new MountTable([root, ...mounts, entry({ id: 20, parent: 11, point: publishPath, uniqueID: 20 })]);
    expect(at(60_000, { pendingOperations, table: twice }), "as long as it runs").to.deep.equal(quiet);
    expect(at(10, { table: twice }), "as nobody looked when it had ended").to.deep.equal(quiet);
    const gone = new MountTable([root, ...mounts.slice(0, 2)]);
    expect(at(60_000, { pendingOperations, table: gone }).drift?.class, "of the target itself").to.equal("Missing");
  });

  it("is due at once where the driver has mounted over what it had published, and takes no target away for it", () => {
    const twice = new MountTable([root, ...mounts, entry({ id: 20, parent: 11, point: publishPath, uniqueID: 20 })]);
    expect(kinds(new Planner().plan(input(10, { table: twice })))).to.deep.equal(["republish"]);
    const { requiresRepublish: _asks, ...quiet } = grant.csi;
    const never = new Map([[volume, desiredVolume(wanted({ source, grant: { id: "g", csi: quiet } }), "key")]]);
    expect(kinds(new Planner().plan(input(10, { table: twice, desired: never })))).to.deep.equal(["publish"]);
    const foreign = entry({ id: 20, parent: 11, point: publishPath, uniqueID: 20, root: "/other" });
    const beneath = new MountTable([
      root,
      ...mounts.filter(({ id }) => id !== 11),
      { ...foreign, id: 11 },
      { ...foreign, parent: 11 },
    ]);
    expect(
      kinds(new Planner().plan(input(10, { table: beneath }))),
      "what it had published is not there",
    ).to.deep.equal(["publish"]);
  });

  it("that fails leaves the volume Mounted and Ready, is told, and is tried again by backoff", () => {
    const failure: Failure = {
      kind: "republish",
      errorClass: "final",
      reason: "DriverFailed",
      message: "no token today",
      generation: 1,
      ...{ attempts: 3, firstAt: 60_000, nextAt: 64_000, time: 0, nextTime: 4_000 },
    };
    const failures = failuresAt([{ volume, path: target }, failure]);
    const plan = new Planner().plan(input(61_000, { failures }));
    expect([kinds(plan), plan.wakeAt]).to.deep.equal([[], 64_000]);
    expect(kinds(new Planner().plan(input(64_000, { failures })))).to.deep.equal(["republish"]);
    const { state, conditions, waiting, lastError } = status(plan);
    const ready = conditions?.find(({ type }) => type === "Ready");
    expect([state, ready?.status, ready?.message]).to.deep.equal(["Mounted", "True", "no token today"]);
    expect(waiting).to.include({ reason: "DriverFailed", attempts: 3 });
    expect(lastError).to.include({ operation: "republish", message: "no token today" });
  });

  it("comes to different targets at different times", () => {
    const wakes = Array.from({ length: 40 }, (_, i) => {
      const name = (i * 0x6000_0000 + 0x1234_5678).toString(16).slice(-8).padStart(8, "0");
      const published = { path: `/csi/k/mounts/${name}`, readOnly: false, identity, at: { epoch: 1, ms: 0 } };
      const record = { ...recorded(undefined), targets: [targetRecord({ identity, published, mountID: 12 })] };
      const there = [path, published.path, target].map((point, n) => entry({ id: 10 + n, point, uniqueID: 10 + n }));
      return new Planner().plan(input(0, { record, table: new MountTable([root, ...there]) })).wakeAt ?? 0;
    });
    expect(Math.min(...wakes)).to.be.within(45_000, 55_000);
    expect(Math.max(...wakes)).to.be.within(65_000, 75_000);
  });
});
