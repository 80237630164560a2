import { expect } from "chai";
import { desiredVolume } from "../../../../src/agent/desired/desired-volume.ts";
import type { ActualTarget } from "../../../../src/agent/model/actual-volume.ts";
import type { DesiredVolume } from "../../../../src/agent/model/desired.ts";
import { asMountPath } from "../../../../src/agent/model/identities.ts";
import type { CSIRecord, VolumeRecord } from "../../../../src/agent/model/volume-record.ts";
import {
  type FSGroupPlan,
  fsGroupFor,
  fsGroupPlan,
  labelOf,
  mustStageForOwnership,
  ownershipDiffers,
  toldOwnership,
  withoutOtherFSGroups,
} from "../../../../src/agent/ownership/fsgroup-policy.ts";
import { ownershipProblem } from "../../../../src/agent/planner/ownership-problem.ts";
import { prefix, record, stageRecord, targetRecord, wanted } from "../../../lib/builders/plan-world.ts";

const source = { csi: { driver: "a.example", volumeHandle: "v" } };
const settings = { allowedPrefixes: [prefix], stateDir: "/state", hostRoot: "/", csiDir: "/csi", seLinux: true };
const paths = { a: `${prefix}/a`, b: `${prefix}/b`, c: `${prefix}/c` };
type Name = keyof typeof paths;
type Mount = { fsGroup?: number; level?: string; readOnly?: boolean };

function desired(
  mounts: { [name in Name]?: Mount },
  granted: object = { supportsFSGroup: true, seLinuxMount: true },
): DesiredVolume {
  const grant = { id: "g", csi: { ...source.csi, accessMode: "ReadWriteOnce" as const, ...granted } };
  const asked = Object.entries(mounts).map(([name, { level, ...more }]) => ({
    path: paths[name as Name],
    name: `set.${name}`,
    ...more,
    ...(level !== undefined && { seLinuxOptions: { level } }),
  }));
  return desiredVolume(wanted({ source, grant, mounts: asked }), "key");
}

/** What is on record: the group that was given for each target, and what the driver was told. */
function known(given: { [name in Name]?: number | undefined }, told: Partial<CSIRecord> = {}): VolumeRecord {
  const csi = { ...source.csi, directory: "/csi/k", needsUnstage: true, block: false, shown: [], calls: {}, ...told };
  const targets = Object.entries(given).map(([name, fsGroup]) => {
    const published = { path: `/csi/k/mounts/${name}`, readOnly: false, ...(fsGroup !== undefined && { fsGroup }) };
    return targetRecord({ path: asMountPath(paths[name as Name]), name: `set.${name}`, published });
  });
  return record({ stage: stageRecord({ kind: "csi", csi }), targets });
}

const label = (level: string) => `system_u:object_r:container_file_t:${level}`;

describe("the group of a volume", () => {
  const rows: readonly [string, Parameters<typeof desired>[0], VolumeRecord | undefined, number | undefined][] = [
    ["nobody asks", { a: {} }, known({ a: 2 }), undefined],
    ["the first that one asks for", { a: {}, b: { fsGroup: 1 }, c: { fsGroup: 2 } }, undefined, 1],
    [
      "the one that it has, though another is named first",
      { a: { fsGroup: 1 }, b: { fsGroup: 2 } },
      known({ b: 2 }),
      2,
    ],
    ["another, when nobody asks for that any more", { a: { fsGroup: 1 } }, known({ a: 2 }), 1],
    ["0 is a group", { a: { fsGroup: 0 }, b: { fsGroup: 2 } }, undefined, 0],
    [
      "what the driver was told",
      { a: { fsGroup: 1 }, b: { fsGroup: 2 } },
      known({}, { takesGroup: true, mountGroup: 2 }),
      2,
    ],
  ];
  for (const [title, mounts, of, expected] of rows) {
    it(title, () => {
      expect(fsGroupFor(desired(mounts), of)).to.equal(expected);
    });
  }
});

/** The group that the agent gives files to; undefined if it gives them to none. */
function walked({ action, want }: FSGroupPlan): number | undefined {
  return action === "walk" ? want : undefined;
}

describe("a change of group that is due", () => {
  const due = (want: DesiredVolume, of: VolumeRecord | undefined) =>
    want.mounts.map((mount) => walked(fsGroupPlan(mount, want, of)));

  it("for each mount that asks for the group and is not on record with it", () => {
    expect(due(desired({ a: { fsGroup: 1 }, b: { fsGroup: 1 }, c: {} }), known({ a: 1, b: undefined }))).to.deep.equal([
      undefined,
      1,
      undefined,
    ]);
    expect(due(desired({ a: { fsGroup: 2 } }), known({ a: 1 }))).to.deep.equal([2]);
  });

  it("not read-only, not where the driver does it or wants it left alone, not another group than the volume's", () => {
    expect(due(desired({ a: { fsGroup: 1, readOnly: true } }), known({ a: undefined }))).to.deep.equal([undefined]);
    expect(due(desired({ a: { fsGroup: 1 } }, {}), known({ a: undefined }))).to.deep.equal([undefined]);
    expect(due(desired({ a: { fsGroup: 1 } }), known({ a: undefined }, { takesGroup: true }))).to.deep.equal([
      undefined,
    ]);
    expect(due(desired({ a: { fsGroup: 1 }, b: { fsGroup: 2 } }), known({ a: 1 }))).to.deep.equal([
      undefined,
      undefined,
    ]);
  });
});

describe("a group that is given once more, as the driver was called again", () => {
  const again = (want: DesiredVolume, of: VolumeRecord) =>
    want.mounts.map((mount) => walked(fsGroupPlan(mount, want, of, "has")));

  it("for what has it, while the volume does; what is due is for a publish to give, which waits for who leaves", () => {
    expect(again(desired({ a: { fsGroup: 1 }, b: { fsGroup: 1 }, c: {} }), known({ a: 1, b: 2, c: 1 }))).to.deep.equal([
      1,
      undefined,
      undefined,
    ]);
    expect(again(desired({ a: { fsGroup: 2 } }), known({ a: 1, c: 1 }))).to.deep.equal([undefined]);
    expect(again(desired({ a: { fsGroup: 2 }, b: { fsGroup: 1 } }), known({ a: 2, b: 1 }))).to.deep.equal([
      2,
      undefined,
    ]);
  });
});

describe("the record of a volume that begins to be given to a group", () => {
  it("has that group alone", () => {
    const begun = withoutOtherFSGroups(known({ a: 1, b: 2, c: undefined }), 2);
    expect(begun.targets.map(({ published }) => published?.fsGroup)).to.deep.equal([undefined, 2, undefined]);
    const same = known({ a: 1, b: undefined });
    expect(withoutOtherFSGroups(same, 1)).to.equal(same);
  });
});

describe("what a driver is told, and when it has to be told anew", () => {
  it("the group if it takes one, the label where there is SELinux", () => {
    const want = desired({ a: { fsGroup: 1, level: "s0" } });
    const both = { takesGroup: true, mountGroup: 1, seLinuxLabel: label("s0") };
    expect(toldOwnership(want, undefined, settings, { volumeMountGroup: true })).to.deep.equal(both);
    expect(toldOwnership(want, undefined, { ...settings, seLinux: false }, { volumeMountGroup: false })).to.deep.equal(
      {},
    );
  });

  const rows: readonly [string, Parameters<typeof desired>[0], Partial<CSIRecord>, boolean][] = [
    ["the same group", { a: { fsGroup: 1 } }, { takesGroup: true, mountGroup: 1 }, false],
    ["another group", { a: { fsGroup: 2 } }, { takesGroup: true, mountGroup: 1 }, true],
    ["the first group", { a: { fsGroup: 2 } }, { takesGroup: true }, true],
    ["none any more: the files stay as they are", { a: {} }, { takesGroup: true, mountGroup: 1 }, false],
    ["another group of a driver that takes none", { a: { fsGroup: 2 } }, {}, false],
    ["the same label", { a: { level: "s0" } }, { seLinuxLabel: label("s0") }, false],
    ["another label", { a: { level: "s1" } }, { seLinuxLabel: label("s0") }, true],
    ["the first label", { a: { level: "s0" } }, {}, true],
    ["no label any more", { a: {} }, { seLinuxLabel: label("s0") }, true],
    ["one of two labels", { a: { level: "s1" }, b: { level: "s0" } }, { seLinuxLabel: label("s0") }, false],
  ];
  for (const [title, mounts, told, expected] of rows) {
    it(`${title}: ${expected ? "staged anew" : "stays"}`, () => {
      expect(mustStageForOwnership(desired(mounts), known({}, told), settings)).to.equal(expected);
    });
  }

  it("no label where the kernel or the driver takes none", () => {
    const want = desired({ a: { level: "s0" } });
    expect(labelOf(want, undefined, settings)).to.equal(label("s0"));
    expect(labelOf(want, undefined, { ...settings, seLinux: false })).to.equal(undefined);
    expect(labelOf(desired({ a: { level: "s0" } }, {}), undefined, settings)).to.equal(undefined);
  });
});

describe("a mount whose group or label is not the volume's", () => {
  const view = (targets: readonly ActualTarget[] = []) => ({ targets });
  const problems = (want: DesiredVolume, of: VolumeRecord | undefined, targets?: readonly ActualTarget[]) =>
    want.mounts.map((mount) => {
      const problem = ownershipProblem(mount, want, { record: of, actualState: view(targets), settings });
      return problem && `${problem.reason} ${problem.on?.name}`;
    });

  it("waits for who has the group, and says for whom", () => {
    const want = desired({ a: { fsGroup: 1 }, b: { fsGroup: 2 }, c: {} });
    expect(problems(want, known({ b: 2 }))).to.deep.equal([`FsGroupConflict ${paths.b}`, undefined, undefined]);
    expect(problems(want, known({}, { takesGroup: true }))).to.deep.equal([
      undefined,
      `FsGroupConflict ${paths.a}`,
      undefined,
    ]);
  });

  it("has no conflict where no group is given to anything", () => {
    expect(
      problems(desired({ a: { fsGroup: 1 }, b: { fsGroup: 2 } }, { supportsFSGroup: false }), known({})),
    ).to.deep.equal([undefined, undefined]);
  });

  it("waits for another grant where that does not say whether a group may be given, and is not as wanted", () => {
    const want = (mount: Mount) => desired({ a: mount }, {});
    expect(problems(want({ fsGroup: 1 }), undefined)).to.deep.equal(["GrantOutdated undefined"]);
    expect(problems(want({ fsGroup: 1 }), known({ a: undefined }))).to.deep.equal(["GrantOutdated undefined"]);
    for (const mount of [{}, { fsGroup: 1, readOnly: true }]) {
      expect(problems(want(mount), known({ a: undefined }))).to.deep.equal([undefined]);
    }
    expect(problems(want({ fsGroup: 1 }), known({}, { takesGroup: true, mountGroup: 1 }))).to.deep.equal([undefined]);
    const differs = (granted: object) => {
      const volume = desired({ a: { fsGroup: 1 } }, granted);
      return volume.mounts.map((mount) =>
        ownershipDiffers(mount, volume, { record: known({ a: undefined }), settings }),
      );
    };
    expect([...differs({}), ...differs({ supportsFSGroup: false })]).to.deep.equal([true, false]);
  });

  it("waits for one that leaves, but for the old path of its own", () => {
    const of = known({ c: 1 });
    const left = { path: asMountPath(paths.c), name: "set.c", ...(of.targets[0] && { record: of.targets[0] }) };
    const leaving: ActualTarget = { ...left, truth: "mounted", outdated: false, attributesDiffer: false };
    const want = desired({ a: { fsGroup: 2 } });
    expect(problems(want, of, [leaving])).to.deep.equal([`FsGroupConflict ${paths.c}`]);
    expect(problems(want, of, [{ ...left, truth: "absent" }])).to.deep.equal([undefined]);
    expect(problems(want, of, [{ ...leaving, name: "set.a" }])).to.deep.equal([undefined]);
    expect(problems(desired({ a: { fsGroup: 1 } }), of, [leaving])).to.deep.equal([undefined]);
  });

  it("waits for who has the label", () => {
    const want = desired({ a: { level: "s1" }, b: { level: "s0" }, c: {} });
    const of = known({}, { seLinuxLabel: label("s0") });
    expect(problems(want, of)).to.deep.equal([`SELinuxContextConflict ${paths.b}`, undefined, undefined]);
  });
});
