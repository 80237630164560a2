import { expect } from "chai";
import { asMountPath } from "../../../../src/agent/model/identities.ts";
import { statusOf } from "../../../../src/agent/status/intent-status.ts";
import { findCondition } from "../../../../src/api/conditions.ts";
import type { NodeVolumeIntent, NodeVolumeIntentStatus } from "../../../../src/api/types.gen.ts";
import { MountTable } from "../../../../src/host/mount-table/mount-table.ts";
import { kstatus } from "../../../lib/asserts/kstatus.ts";
import { entry } from "../../../lib/builders/mount-entries.ts";
import {
  mounted,
  planned,
  prefix,
  record,
  staged,
  targetRecord,
  volume,
  type World,
  wanted,
} from "../../../lib/builders/plan-world.ts";

const agent = { bootID: "boot-1", epoch: 3 };
const at = (second: number) => ({ agent, now: Date.parse("2026-01-01T00:00:00Z") + second * 1_000 });

/** The status of the world's intent, computed after `previous`. */
function status(
  world: World & { intents: readonly [NodeVolumeIntent] },
  second = 0,
  previous?: object,
): NodeVolumeIntentStatus {
  const [intent] = world.intents;
  const before = previous === undefined ? intent : { ...intent, status: previous as NodeVolumeIntentStatus };
  return statusOf(before, planned(world), at(second)) as NodeVolumeIntentStatus;
}

const ready = (s: NodeVolumeIntentStatus) => {
  const condition = findCondition(s.conditions, "Ready");
  return `${condition?.status} ${condition?.reason}`;
};

const settled = { intents: [wanted()] as const, records: [record()], mounts: [staged, mounted] };

describe("statusOf", () => {
  it("a volume that is all there is Mounted, Ready and in use", () => {
    const s = status(settled);
    expect(s).to.include({
      state: "Mounted",
      desiredMounts: 1,
      readyMounts: 1,
      inUse: true,
      observedGeneration: 1,
      observedUID: "uid-1",
      grantID: "grant-1",
    });
    expect(ready(s)).to.equal("True Mounted");
    expect(s.mounts).to.deep.equal([{ name: "set.m0", path: `${prefix}/a`, state: "Mounted", mountID: "20" }]);
    expect(s.waiting).to.equal(undefined);
    expect(s.agent).to.deep.equal(agent);
  });

  it("claims no more than the table shows, whatever is on record (law L10)", () => {
    const s = status({ ...settled, mounts: [staged] });
    expect(s).to.include({ desiredMounts: 1, readyMounts: 0, state: "Mounting" });
    expect(ready(s)).to.equal("False Progressing");
    expect(s.drift).to.include({ class: "Missing" });
    expect(findCondition(s.conditions, "Drifted")?.status).to.equal("True");
  });

  it("is settled for kstatus when Ready, in progress while it is mounted, and failed when somebody must change something", () => {
    const settles = (s: NodeVolumeIntentStatus) => kstatus({ metadata: { generation: 1 }, status: s });
    expect(settles(status(settled))).to.equal("Current");
    expect(settles(status({ ...settled, mounts: [staged] }))).to.equal("InProgress");
    const foreign = entry({ id: 30, point: `${prefix}/a`, device: "0:99" });
    expect(settles(status({ ...settled, records: [record({ targets: [] })], mounts: [staged, foreign] }))).to.equal(
      "Failed",
    );
  });

  it("a table that cannot be read means in use, and nothing is claimed mounted", () => {
    const s = status({ ...settled, mounts: "unreadable" });
    expect(s).to.include({ inUse: true, desiredMounts: 1, readyMounts: 0 });
    expect(s.mounts?.[0]?.state).to.equal("Uncertain");
  });

  it("names what is waited for, since when, and keeps the time while it stays the same", () => {
    const foreign = entry({ id: 30, point: `${prefix}/a`, device: "0:99", fsType: "nfs4", source: "server:/x" });
    const world = { intents: [wanted()] as const, records: [record({ targets: [] })], mounts: [staged, foreign] };
    const first = status(world, 0);
    expect(first.waiting).to.deep.include({
      reason: "ForeignMount",
      since: "2026-01-01T00:00:00Z",
      on: { kind: "Mount", name: `${prefix}/a` },
    });
    expect(first.waiting?.message).to.contain("nfs4 (server:/x");
    expect(first.mounts?.[0]).to.include({ state: "Foreign", reason: "ForeignMount" });
    const later = status(world, 60, first);
    expect(later.waiting?.since).to.equal("2026-01-01T00:00:00Z");
    expect(findCondition(later.conditions, "Ready")?.lastTransitionTime).to.equal("2026-01-01T00:00:00Z");
    expect(later, "nothing has changed, so nothing is to be written").to.deep.equal(first);
  });

  it("an earlier object's status is not taken over, times included", () => {
    const first = status(settled, 0);
    const again = { ...settled, intents: [wanted({ uid: "uid-2" })] as const };
    const s = status(again, 60, first);
    expect(s.history?.[0]?.time).to.equal("2026-01-01T00:01:00Z");
    expect(s.observedUID).to.equal("uid-2");
  });

  it("observedGeneration never goes back within one UID", () => {
    const s = status(settled, 0, { observedUID: "uid-1", observedGeneration: 7, conditions: [] });
    expect(s.observedGeneration).to.equal(7);
  });

  it("a mount that only the agent has is not called mounted (law L10)", () => {
    const own = [
      staged,
      entry({ id: 5, point: prefix }),
      entry({ id: 20, parent: 5, point: `${prefix}/a`, shared: 8 }),
    ];
    const nodeTable = new MountTable([entry({ id: 100, point: prefix, shared: 7 })]);
    const s = status({ ...settled, mounts: own, input: { nodeTable } });
    expect(ready(s)).to.equal("False NotPropagated");
    expect(findCondition(s.conditions, "Mounted")).to.include({ status: "False", reason: "NotPropagated" });
    expect(s.mounts?.[0]).to.include({ state: "Blocked", reason: "NotPropagated" });
    expect(s.mounts?.[0]).not.to.have.property("mountID");
    expect(s).to.include({ desiredMounts: 1, readyMounts: 0, inUse: true });
    expect(s.state).not.to.equal("Degraded");
  });

  it("names as many mounts as the schema takes, the wanted ones first, then those with a problem", () => {
    const paths = (kind: string, n: number) => Array.from({ length: n }, (_, i) => `${prefix}/${kind}${i}`);
    const old = [...paths("quiet", 65), ...paths("busy", 65)];
    const targets = old.map((path, i) => targetRecord({ path: asMountPath(path), name: `old${i}`, mountID: 100 + i }));
    const mounts = [staged, ...old.map((point, i) => entry({ id: 100 + i, point }))];
    const foreign = paths("busy", 65).map((point, i) =>
      entry({ id: 1_000 + i, point, parent: 165 + i, device: "0:99" }),
    );
    const intents = [wanted({ mounts: paths("new", 60).map((path) => ({ path })) })] as const;
    const s = status({ intents, records: [record({ targets })], mounts: [...mounts, ...foreign] });
    const shown = s.mounts?.map(({ path }) => path.replace(`${prefix}/`, "").replace(/\d+/, "")) ?? [];
    expect(shown).to.have.length(128);
    expect([shown[0], shown[59], shown[60], shown[124], shown[125], shown[127]]).to.deep.equal([
      "new",
      "new",
      "busy",
      "busy",
      "quiet",
      "quiet",
    ]);
  });

  it("waiting names the namespace of an object apart from its name", () => {
    const on = { kind: "Secret", namespace: "team", name: "key" };
    const contents = () => ({ known: false, problem: { reason: "SecretNotFound", message: "none", on } }) as const;
    const intents = [wanted({ source: { secret: { namespace: "team", secretName: "key" } } })] as const;
    expect(status({ intents, input: { contents } }).waiting?.on).to.deep.equal(on);
  });

  it("keeps the last ten states", () => {
    let s = status(settled, 0);
    for (let i = 1; i <= 20; i++) s = status(i % 2 === 0 ? settled : { ...settled, mounts: [staged] }, i, s);
    expect(s.history).to.have.length(10);
    expect(s.history?.at(-1)).to.deep.include({ state: "Mounted", time: "2026-01-01T00:00:20Z" });
  });

  it("one of two mounts in place: Degraded, and 1/2", () => {
    const mounts = [{ path: `${prefix}/a` }, { path: "/outside" }];
    const s = status({ ...settled, intents: [wanted({ mounts })] });
    expect(s).to.include({ state: "Degraded", desiredMounts: 2, readyMounts: 1 });
    expect(ready(s)).to.equal("False PathNotAllowed");
  });

  it("released: not in use, and says so for the deletion that it answers", () => {
    const { stage: _stage, ...empty } = record({ targets: [] });
    const s = status({ intents: [wanted({ deleting: true, generation: 2 })], records: [empty] });
    expect(s).to.include({ state: "Released", inUse: false, observedGeneration: 2, grantID: "grant-1" });
  });

  it("being released: in use until the very last", () => {
    const s = status({
      intents: [wanted({ deleting: true, generation: 2 })],
      records: [record({ targets: [] })],
      mounts: [],
    });
    expect(s).to.include({ state: "Unmounting", inUse: true });
  });

  it("suspended and observing show the plan", () => {
    expect(status({ ...settled, intents: [wanted({ suspend: true })], mounts: [staged] }).plan).to.deep.equal([
      `mount on ${prefix}/a`,
    ]);
    const observing = status({ intents: [wanted({ mode: "Observe" })] });
    expect(observing.plan).to.deep.equal(["stage the volume", `mount on ${prefix}/a`]);
    expect(ready(observing)).to.equal("False WouldChange");
    expect(status(settled).plan).to.equal(undefined);
  });

  it("is about the volume that was planned", () => {
    expect(planned(settled).name).to.equal(volume);
  });
});
