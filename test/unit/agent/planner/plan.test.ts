import { expect } from "chai";
import { nextFailure } from "../../../../src/agent/backoff/backoff.ts";
import type { Failure } from "../../../../src/agent/model/failure.ts";
import { asMountPath } from "../../../../src/agent/model/identities.ts";
import type { Operation } from "../../../../src/agent/model/operation.ts";
import type { VolumeRecord } from "../../../../src/agent/model/volume-record.ts";
import {
  failuresAt,
  mounted,
  planned,
  planWorld,
  prefix,
  record,
  staged,
  stageRecord,
  targetRecord,
  volume,
  wanted,
} from "../../../lib/builders/plan-world.ts";

const settled = { intents: [wanted()], records: [record()], mounts: [staged, mounted] };
const path = asMountPath(`${prefix}/a`);

/** The operation that is planned, without the volume's name. */
function next(world: Parameters<typeof planned>[0]): Omit<Operation, "volume"> | undefined {
  const { operation } = planned(world);
  if (operation === undefined) return undefined;
  const { volume: _volume, ...action } = operation;
  return action;
}

describe("plan", () => {
  it("stages first, then mounts each target, then is done", () => {
    expect(next({ intents: [wanted()] })).to.deep.equal({ kind: "stage" });
    const stagedOnly = { intents: [wanted()], records: [record({ targets: [] })], mounts: [staged] };
    expect(next(stagedOnly)).to.deep.equal({ kind: "publish", path });
    expect(next(settled)).to.equal(undefined);
  });

  it("takes targets down before the stage, and the stage before the end", () => {
    const deleting = [wanted({ deleting: true, generation: 2 })];
    expect(next({ ...settled, intents: deleting })).to.deep.equal({
      kind: "unpublish",
      path,
      mountID: 20,
      unmountMode: "Normal",
    });
    const noTargets = { intents: deleting, records: [record({ targets: [] })], mounts: [staged] };
    expect(next(noTargets)).to.deep.equal({ kind: "unstage", mountID: 10, unmountMode: "Normal" });
    const { stage: _stage, ...empty } = record({ targets: [] });
    expect(planned({ intents: deleting, records: [empty] }).phase).to.equal("released");
  });

  it("is not released while something is being set up of which no record tells yet", () => {
    const pendingOperations = { pendingOperations: new Map([[volume, "stage" as const]]) };
    for (const deletionPolicy of ["Unmount", "Retain"] as const) {
      const intents = [wanted({ deleting: true, generation: 2, deletionPolicy })];
      expect(planned({ intents, input: pendingOperations }).phase).to.equal("tearDown");
    }
    const observing = { pendingOperations: new Map([[volume, "observe" as const]]) };
    expect(planned({ intents: [wanted({ deleting: true, generation: 2 })], input: observing }).phase).to.equal(
      "released",
    );
  });

  it("touches nothing without a grant, though it may have been there before", () => {
    const object = wanted();
    const { grant: _grant, ...spec } = object.spec;
    const plan = planned({ intents: [{ ...object, spec }], records: [record()], mounts: [staged] });
    expect(plan.phase).to.equal("ungranted");
    expect(plan.operation).to.equal(undefined);
  });

  it("mounts before the intents are all read, but takes nothing down (law L1)", () => {
    const unsynced = { synced: false };
    expect(next({ intents: [wanted()], input: unsynced })).to.deep.equal({ kind: "stage" });
    const deleting = [wanted({ deleting: true, generation: 2 })];
    expect(next({ ...settled, intents: deleting, input: unsynced })).to.equal(undefined);
    const { stage: _stage, ...empty } = record({ targets: [] });
    expect(next({ records: [empty], input: unsynced })).to.equal(undefined);
  });

  it("does nothing at all while the mount table cannot be read, and counts the volume as in use", () => {
    const plan = planned({ ...settled, mounts: "unreadable" });
    expect(plan.operation).to.equal(undefined);
    expect(plan.actualState.inUse).to.equal(true);
    expect(next({ intents: [wanted()], mounts: "unreadable" })).to.equal(undefined);
  });

  it("starts no second operation of a volume (law L4)", () => {
    const plan = planned({ intents: [wanted()], input: { pendingOperations: new Map([[volume, "stage" as const]]) } });
    expect(plan.operation).to.equal(undefined);
    expect(plan.running).to.equal("stage");
  });

  it("does not act for a generation that the journal has passed (safety rule 4)", () => {
    const plan = planned({ intents: [wanted()], records: [record({ generation: 5, targets: [] })], mounts: [staged] });
    expect(plan.operation).to.equal(undefined);
    expect(plan.problems.volume?.reason).to.equal("StaleRead");
    const other = planned({
      intents: [wanted({ uid: "uid-2" })],
      records: [record({ generation: 5 })],
      mounts: [staged, mounted],
    });
    expect(other.operation?.kind, "another object of the name begins at its own generation").to.equal("claim");
  });

  it("keeps what an intent left behind that vanished, until nothing is there any more (law L8)", () => {
    expect(planned({ records: [record()], mounts: [staged, mounted] })).to.include({ phase: "unexplained" });
    expect(next({ records: [record()], mounts: [staged, mounted] })).to.equal(undefined);
    expect(next({ records: [record()], mounts: [staged] })).to.equal(undefined);
    expect(next({ records: [record()], mounts: [] })).to.deep.equal({ kind: "forget" });
  });

  it("suspended: repairs nothing and says what it would do, but lets consumers go", () => {
    const suspended = planned({ intents: [wanted({ suspend: true })], records: [record()], mounts: [staged] });
    expect(suspended.operation).to.equal(undefined);
    expect(suspended.pending).to.deep.equal([`mount on ${path}`]);
    const left = targetRecord({ path: asMountPath(`${prefix}/left`), name: "set.left" });
    const world = {
      intents: [wanted({ suspend: true })],
      records: [record({ targets: [targetRecord(), left] })],
      mounts: [staged, mounted],
    };
    expect(next(world)).to.deep.include({ kind: "unpublish", path: `${prefix}/left` });
  });

  it("observing: plans, and touches nothing", () => {
    const plan = planned({ intents: [wanted({ mode: "Observe" })] });
    expect(plan.phase).to.equal("observe");
    expect(plan.operation).to.equal(undefined);
    expect(plan.pending).to.deep.equal(["stage the volume", `mount on ${path}`]);
    expect(planned({ intents: [wanted({ mode: "Observe", deleting: true, generation: 2 })] }).phase).to.equal(
      "released",
    );
  });

  it("options in another order are the same options, also where a journal has them in an older order", () => {
    const source = { nfs: { server: "srv", path: "/x" } };
    const stage = stageRecord({ options: ["timeo=600", "hard"] });
    const world = { records: [record({ stage })], mounts: [staged, mounted] };
    expect(next({ ...world, intents: [wanted({ source, mountOptions: ["hard", "timeo=600"] })] })).to.equal(undefined);
    const changed = [wanted({ source, mountOptions: ["hard", "timeo=6"] })];
    expect(next({ ...world, intents: changed })?.kind).to.equal("reconfigure");
  });

  it("other options of a file system that takes none in place are a new mount", () => {
    const secretRef = { namespace: "s", name: "ceph" };
    const cephfs = { monitors: ["10.0.0.1"], client: "Kernel" as const, secretRef };
    const stage = stageRecord({ options: ["rsize=65536"] });
    const world = { records: [record({ type: "cephfs", stage })], mounts: [staged, mounted] };
    const planOf = (option: string) =>
      next({ ...world, intents: [wanted({ source: { cephfs }, mountOptions: [option] })] });
    expect(planOf("rsize=65536")).to.equal(undefined);
    expect(planOf("rsize=4096")?.kind).to.equal("unpublish");
  });

  it("waits for a content that is not known, but keeps what shows an older one", () => {
    const source = { configMap: { namespace: "default", name: "cm" } };
    const unknown = () => ({ known: false, problem: { reason: "ConfigMapNotFound", message: "none" } }) as const;
    const intents = [wanted({ source })];
    const fresh = planned({ intents, input: { contents: unknown } });
    expect(fresh.operation).to.equal(undefined);
    expect(fresh.problems.volume?.reason).to.equal("ConfigMapNotFound");
    const old = stageRecord({ kind: "directory", options: [], contentVersion: "u/0" });
    const world = { intents, records: [record({ type: "configMap", stage: old, targets: [] })] };
    expect(next({ ...world, input: { contents: unknown } })).to.deep.equal({ kind: "publish", path });
    expect(next(world)).to.deep.equal({ kind: "refresh" });
  });

  describe("after a failure", () => {
    const clock = { now: () => 5_000, monotonic: () => 1_000 };
    const random = { next: () => 1, uuid: () => "" }; // the longest delay
    const failed = (more: Partial<Failure> = {}, times = 1): Failure => {
      const about = {
        kind: "stage",
        generation: 1,
        reason: "SetUpFailed",
        errorClass: "transient",
        message: "no",
      } as const;
      let failure: Failure | undefined;
      for (let i = 0; i < times; i++) failure = nextFailure(failure, { clock, random }, { ...about, ...more });
      if (failure === undefined) throw new Error("never");
      return { ...failure, ...more };
    };

    it("waits 500 ms, doubling to 2 min 2 s (behaviour 53)", () => {
      const delays = [1, 2, 3, 8, 9, 30].map((times) => failed({}, times).nextAt - 1_000);
      expect(delays).to.deep.equal([500, 1_000, 2_000, 64_000, 122_000, 122_000]);
    });

    it("plans to wake up for the next attempt", () => {
      const plan = planWorld({ intents: [wanted()], failures: failuresAt([{ volume }, failed()]) });
      expect(plan.operations).to.deep.equal([]);
      expect(plan.wakeAt).to.equal(1_500);
    });

    it("tries again at once when the spec has changed, or another step is due (behaviour 52)", () => {
      const failures = failuresAt([{ volume }, failed()]);
      expect(next({ intents: [wanted({ generation: 2 })], failures })?.kind).to.equal("stage");
      expect(
        next({
          intents: [wanted({ deleting: true, generation: 2 })],
          records: [record({ targets: [] })],
          mounts: [staged],
          failures,
        })?.kind,
      ).to.equal("unstage");
    });

    it("one target that fails keeps no other waiting", () => {
      const intents = [wanted({ mounts: [{ path }, { path: `${prefix}/b` }] })];
      const failures = failuresAt([{ volume, path }, failed({ kind: "publish" })]);
      const plan = planned({ intents, records: [record({ targets: [] })], mounts: [staged], failures });
      expect(plan.operation).to.deep.include({ kind: "publish", path: `${prefix}/b` });
      expect(plan.failure?.kind).to.equal("publish");
    });

    it("climbs the ladder of unmounts only as far and as fast as the policy says", () => {
      const rungAt = (max: "Normal" | "Force" | "Lazy", seconds: number, records = settled.records) => {
        const unmountPolicy = { max, timeoutSeconds: 90 };
        const failure = failed({ kind: "unpublish", generation: 2, firstAt: 0, nextAt: 0 });
        const world = {
          ...settled,
          records,
          intents: [wanted({ deleting: true, generation: 2, unmountPolicy })],
          failures: failuresAt([{ volume, path }, failure]),
        };
        const operation = next({ ...world, input: { now: seconds * 1_000 } });
        return operation?.kind === "unpublish" && "unmountMode" in operation ? operation.unmountMode : undefined;
      };
      expect([0, 89, 90, 179, 180, 9_999].map((s) => rungAt("Lazy", s))).to.deep.equal([
        "Normal",
        "Normal",
        "Force",
        "Force",
        "Lazy",
        "Lazy",
      ]);
      expect([90, 9_999].map((s) => rungAt("Force", s))).to.deep.equal(["Force", "Force"]);
      expect([90, 9_999].map((s) => rungAt("Normal", s))).to.deep.equal(["Normal", "Normal"]);
      const ofTheHost = settled.records.map((r) => ({ ...r, stage: { ...r.stage, kind: "path" } }) as VolumeRecord);
      expect(
        [90, 180].map((s) => rungAt("Lazy", s, ofTheHost)),
        "no force on what is not ours",
      ).to.deep.equal(["Normal", "Lazy"]);
    });
  });
});
