import { expect } from "chai";
import { observeDriverStage } from "../../../../../src/agent/actual/csi-volume.ts";
import { desiredVolume } from "../../../../../src/agent/desired/desired-volume.ts";
import type { Failure } from "../../../../../src/agent/model/failure.ts";
import { asIntentUID, asMountPath } from "../../../../../src/agent/model/identities.ts";
import type { PlanInput } from "../../../../../src/agent/model/plan-input.ts";
import { afterReboot, type VolumeRecord } from "../../../../../src/agent/model/volume-record.ts";
import { Planner } from "../../../../../src/agent/planner/incremental/incremental-planner.ts";
import { MountTable } from "../../../../../src/host/mount-table/mount-table.ts";
import { entry } from "../../../../lib/builders/mount-entries.ts";
import { plan } from "../../../../lib/builders/plan-whole.ts";
import { failuresAt, planned, prefix, targetRecord, volume, wanted } from "../../../../lib/builders/plan-world.ts";

const identity = { device: "0:50", root: "/", source: "tmpfs" };
const source = { csi: { driver: "a.example", volumeHandle: "v" } };
const csi = {
  ...source.csi,
  directory: "/csi/k",
  needsUnstage: true,
  block: false,
  shown: [{ identity }],
  calls: { unanswered: {} },
};
const path = "/csi/k/staging";
const published = { path: "/csi/k/mounts/a", readOnly: false, identity };
const record: VolumeRecord = {
  name: volume,
  key: "key",
  type: "csi",
  uid: asIntentUID("uid-1"),
  generation: 1,
  stage: { kind: "csi", path, ready: true, options: [], fileKind: "directory", identity, csi },
  targets: [targetRecord({ identity, published, mountID: 12 })],
};
const root = entry({ id: 1, parent: 0, point: "/", device: "8:1", fsType: "ext4", uniqueID: 1 });
const mounts = [path, published.path, `${prefix}/a`].map((point, i) => entry({ id: 10 + i, point, uniqueID: 10 + i }));

describe("the plan of a CSI volume that is kept up", () => {
  const grant = { id: "g", csi: { ...source.csi, accessMode: "ReadWriteOnce" as const } };
  const input: PlanInput = {
    desired: new Map([[volume, desiredVolume(wanted({ source, grant }), "key")]]),
    synced: true,
    records: new Map([[volume, record]]),
    mayHaveLost: false,
    table: new MountTable([root, ...mounts]),
    pendingOperations: new Map(),
    failures: new Map(),
    contents: () => ({ known: true, version: "1" }),
    observed: new Map(),
    settings: { allowedPrefixes: [prefix], stateDir: "/state", hostRoot: "/", csiDir: "/csi" },
    now: 0,
  };

  it("has nothing to do when all is as it was asked for", () => {
    expect(new Planner().plan(input).operations).to.deep.equal([]);
  });

  it("notices that what it is on does not answer any more", () => {
    const planner = new Planner();
    planner.plan(input);
    const unresponsive: NonNullable<PlanInput["unresponsive"]> = new Map([
      [volume, { since: 1, what: "srv" } as never],
    ]);
    expect(planner.plan({ ...input, unresponsive }).volumes.get(volume)?.unresponsive).to.equal(
      unresponsive.get(volume),
    );
  });

  it("notices that kubelet has given a target back", () => {
    const planner = new Planner();
    planner.plan(input);
    const { operations } = planner.plan({ ...input, closingPods: new Set([asMountPath(`${prefix}/a`)]) });
    expect(operations.map(({ kind }) => kind)).to.deep.equal(["unpublish"]);
  });

  it("notices by the failures alone that a step has failed, and that its wait was ended", () => {
    const planner = new Planner();
    const empty = { ...input, records: new Map(), table: new MountTable([root]) };
    const about = { kind: "stage", generation: 1, reason: "DriverFailed", errorClass: "final", message: "no" } as const;
    const failed: Failure = { ...about, attempts: 1, firstAt: 0, nextAt: 500, time: 0, nextTime: 500 };
    const kinds = (...failures: Failure[]) => {
      const at = failures.map((failure) => [{ volume }, failure] as const);
      const { operations } = planner.plan({ ...empty, failures: failuresAt(...at) });
      return operations.map((operation) => operation.kind);
    };
    expect(kinds()).to.deep.equal(["stage"]);
    expect(kinds(failed), "failed").to.deep.equal([]);
    expect(kinds({ ...failed, nextAt: 0 }), "its wait was ended").to.deep.equal(["stage"]);
    expect(kinds(failed), "failed again").to.deep.equal([]);
    expect(kinds(), "forgotten").to.deep.equal(["stage"]);
  });

  for (const [what, id, kind] of [
    ["what was staged", 10, "stage"],
    ["what was published", 11, "publish"],
    ["the target", 12, "publish"],
  ] as const) {
    it(`notices by the mount table alone that ${what} went`, () => {
      const planner = new Planner();
      // Of two tables that are made from one, only the first tells what has changed.
      const table = new MountTable([root, ...mounts]);
      planner.plan({ ...input, table });
      const after = { ...input, table: table.updated(new Map([[id, undefined]])) };
      const next = planner.plan(after);
      expect(next.operations.map((operation) => operation.kind)).to.deep.equal([kind]);
      expect(next.operations).to.deep.equal(plan(after).operations);
    });
  }
});

describe("what a driver has staged, when its mount is gone", () => {
  const { stage } = record;
  const table = new MountTable([root]);
  const seen = (ready: boolean) =>
    stage && observeDriverStage({ ...stage, ready }, table, { record, desired: undefined });

  it("is never called absent: only the driver ends it", () => {
    expect(seen(true)).to.include({ truth: "uncertain", drift: "Missing" });
    expect(seen(false)).to.include({ truth: "uncertain" }).and.not.to.have.property("drift");
  });

  it("is not forgotten with its intent, for the driver was not asked to unstage it", () => {
    const { operation, phase } = planned({ records: [{ ...record, targets: [] }] });
    expect([operation, phase]).to.deep.equal([undefined, "unexplained"]);
  });
});

describe("the record of a CSI volume after a reboot", () => {
  it("has nothing that is mounted, and all that the driver has to be asked to undo", () => {
    const { stage, targets } = afterReboot(record);
    expect(stage).to.deep.equal({
      kind: "csi",
      path,
      ready: false,
      options: [],
      fileKind: "directory",
      csi: { ...csi, shown: [], calls: {} },
    });
    expect(targets[0]?.published).to.deep.equal({ path: published.path, readOnly: false });
    expect(targets[0]).not.to.have.property("mountID");
  });
});
