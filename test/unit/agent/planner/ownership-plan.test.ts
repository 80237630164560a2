import { expect } from "chai";
import { asMountPath } from "../../../../src/agent/model/identities.ts";
import type { CSIRecord, VolumeRecord } from "../../../../src/agent/model/volume-record.ts";
import { summaryOf } from "../../../../src/agent/status/volume-summary.ts";
import { entry } from "../../../lib/builders/mount-entries.ts";
import { planned, prefix, record, stageRecord, targetRecord, wanted } from "../../../lib/builders/plan-world.ts";

const identity = { device: "0:50", root: "/", source: "tmpfs" };
const source = { csi: { driver: "a.example", volumeHandle: "v" } };
const staging = "/csi/k/staging";
const at = (path: string) => `${prefix}/${path}`;
const label = (level: string) => `system_u:object_r:container_file_t:${level}`;

interface Mount {
  readonly name: string;
  readonly path: string;
  readonly fsGroup?: number;
  readonly level?: string;
}

/** What is mounted, and what the driver was told of it. */
function mounted(of: readonly Mount[], told: Partial<CSIRecord> = {}) {
  const csi = {
    ...source.csi,
    directory: "/csi/k",
    needsUnstage: true,
    block: false,
    shown: [{ identity }],
    calls: {},
  };
  const targets = of.map(({ name, path, fsGroup }, index) => {
    const published = { path: `/csi/k/mounts/${path}`, readOnly: false, identity, ...(fsGroup && { fsGroup }) };
    return targetRecord({ name, path: asMountPath(at(path)), identity, mountID: 20 + index, published });
  });
  const stage = stageRecord({ kind: "csi", path: staging, options: [], identity, csi: { ...csi, ...told } });
  const points = of.flatMap(({ path }, index) => [
    entry({ id: 40 + index, point: `/csi/k/mounts/${path}` }),
    entry({ id: 20 + index, point: at(path) }),
  ]);
  return { records: [record({ type: "csi", stage, targets })], mounts: [entry({ id: 10, point: staging }), ...points] };
}

function planFor(
  world: { readonly records: readonly VolumeRecord[]; readonly mounts: ReturnType<typeof entry>[] },
  want: readonly Mount[],
  granted: object = { supportsFSGroup: true },
) {
  const grant = { id: "g", csi: { ...source.csi, accessMode: "ReadWriteOnce" as const, ...granted } };
  const mounts = want.map(({ path, level, ...more }) => ({
    ...more,
    path: at(path),
    ...(level !== undefined && { seLinuxOptions: { level } }),
  }));
  const settings = { allowedPrefixes: [prefix], stateDir: "/state", hostRoot: "/", csiDir: "/csi", seLinux: true };
  return planned({ ...world, intents: [wanted({ source, grant, mounts })], input: { settings, epoch: 1 } });
}

const told = ({ problems }: ReturnType<typeof planFor>) =>
  [...problems.targets].map(([path, { reason, on }]) => `${path} ${reason} ${on?.name}`);
const starts = ({ operation }: ReturnType<typeof planFor>) =>
  operation && `${operation.kind} ${"path" in operation ? operation.path : ""}`.trim();

describe("the plan of a volume whose mounts ask for groups and labels (decision 0029)", () => {
  it("files are given to another group under a mount that stays where it is", () => {
    const before = mounted([{ name: "set.a", path: "p1", fsGroup: 1 }]);
    const plan = (fsGroup: number) => planFor(before, [{ name: "set.a", path: "p1", fsGroup }]);
    expect([starts(plan(2)), told(plan(2))]).to.deep.equal([`publish ${at("p1")}`, []]);
    expect(plan(2).operation).to.deep.include({ replaces: 20 });
    expect(starts(plan(1))).to.equal(undefined);
  });

  describe("path and group of several mounts change in one edit", () => {
    const before = mounted([
      { name: "set.a", path: "p1", fsGroup: 1 },
      { name: "set.b", path: "q1", fsGroup: 1 },
    ]);

    it("none waits for the old path of another, which waits for its new one", () => {
      const plan = planFor(before, [
        { name: "set.a", path: "p2", fsGroup: 2 },
        { name: "set.b", path: "q2", fsGroup: 2 },
      ]);
      expect([starts(plan), told(plan)]).to.deep.equal([`publish ${at("p2")}`, []]);
    });

    it("also where they ask for two groups: the first has it, as where the paths stay", () => {
      const plan = planFor(before, [
        { name: "set.a", path: "p2", fsGroup: 2 },
        { name: "set.b", path: "q2", fsGroup: 3 },
      ]);
      expect(starts(plan)).to.equal(`publish ${at("p2")}`);
      expect(told(plan)).to.deep.equal([`${at("q2")} FsGroupConflict ${at("p2")}`]);
    });

    it("one that leaves altogether is waited for", () => {
      const plan = planFor(before, [{ name: "set.a", path: "p2", fsGroup: 2 }]);
      expect([starts(plan), told(plan)]).to.deep.equal([
        `unpublish ${at("q1")}`,
        [`${at("p2")} FsGroupConflict ${at("q1")}`],
      ]);
    });

    it("of a driver that gives the group itself: staged anew for them all", () => {
      const driver = mounted(
        [
          { name: "set.a", path: "p1" },
          { name: "set.b", path: "q1" },
        ],
        { takesGroup: true, mountGroup: 1 },
      );
      const plan = planFor(driver, [
        { name: "set.a", path: "p2", fsGroup: 2 },
        { name: "set.b", path: "q2", fsGroup: 2 },
      ]);
      expect(starts(plan)).to.equal(`unpublish ${at("p1")}`);
    });
  });

  describe("a volume is not staged anew under a mount that asks for nothing of the kind (safety rule 15)", () => {
    const one = { name: "set.a", path: "a" };

    it("a group: the other waits for it", () => {
      const there = mounted([one], { takesGroup: true });
      const plan = planFor(there, [one, { name: "other.b", path: "b", fsGroup: 2 }]);
      expect([starts(plan), told(plan)]).to.deep.equal([undefined, [`${at("b")} FsGroupConflict ${at("a")}`]]);
    });

    it("a group where it leaves: it is taken away, but no other is", () => {
      const there = mounted([one, { name: "set.c", path: "c" }], { takesGroup: true });
      const plan = planFor(there, [one, { name: "other.b", path: "b", fsGroup: 2 }]);
      expect([starts(plan), told(plan)]).to.deep.equal([
        `unpublish ${at("c")}`,
        [`${at("b")} FsGroupConflict ${at("a")}`],
      ]);
    });

    it("another group: the one that is there stays as it is, and is not ready", () => {
      const two = { name: "set.b", path: "b" };
      const there = mounted([one, two], { takesGroup: true, mountGroup: 1 });
      const plan = planFor(there, [one, { ...two, fsGroup: 2 }]);
      expect([starts(plan), told(plan)]).to.deep.equal([undefined, [`${at("b")} FsGroupConflict ${at("a")}`]]);
      expect(summaryOf(plan)).to.include({ ready: "False", reason: "FsGroupConflict", state: "Degraded" });
    });

    it("a label: the other waits for it", () => {
      const plan = planFor(mounted([one]), [one, { name: "other.b", path: "b", level: "s0" }], { seLinuxMount: true });
      expect([starts(plan), told(plan)]).to.deep.equal([undefined, [`${at("b")} SELinuxContextConflict ${at("a")}`]]);
    });

    it("another label: the one that is there stays as it is, and is not ready", () => {
      const two = { name: "set.b", path: "b" };
      const there = mounted([one, two], { seLinuxLabel: label("s0") });
      const plan = planFor(there, [one, { ...two, level: "s1" }], { seLinuxMount: true });
      expect([starts(plan), told(plan)]).to.deep.equal([undefined, [`${at("b")} SELinuxContextConflict ${at("a")}`]]);
      expect(summaryOf(plan)).to.include({ ready: "False", reason: "SELinuxContextConflict" });
    });
  });

  it("a mount that stays with another group than it asks for is published again as the driver asks", () => {
    const there = mounted([
      { name: "set.a", path: "a", fsGroup: 1 },
      { name: "set.b", path: "b", fsGroup: 1 },
    ]);
    const [{ targets = [], ...rest } = {}] = there.records as readonly VolumeRecord[];
    const fresh = targets.map((target) => {
      const { published } = target;
      if (published === undefined || target.name !== "set.a") return target;
      return { ...target, published: { ...published, at: { epoch: 1, ms: 900 } } };
    });
    const plan = planFor(
      { ...there, records: [{ ...rest, targets: fresh } as VolumeRecord] },
      [
        { name: "set.a", path: "a", fsGroup: 1 },
        { name: "set.b", path: "b", fsGroup: 2 },
      ],
      { supportsFSGroup: true, requiresRepublish: true },
    );
    expect([starts(plan), told(plan)]).to.deep.equal([
      `republish ${at("b")}`,
      [`${at("b")} FsGroupConflict ${at("a")}`],
    ]);
    expect(summaryOf(plan)).to.include({ ready: "False", reason: "FsGroupConflict" });
  });
});
