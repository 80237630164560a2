import { expect } from "chai";
import { desiredVolume } from "../../../../src/agent/desired/desired-volume.ts";
import type { DesiredVolume } from "../../../../src/agent/model/desired.ts";
import { asMountPath } from "../../../../src/agent/model/identities.ts";
import { afterReboot, type VolumeRecord } from "../../../../src/agent/model/volume-record.ts";
import { fsGroupFor, fsGroupPlan, fsGroupToWrite } from "../../../../src/agent/ownership/fsgroup-policy.ts";
import { sourceTraits, sourceTypes } from "../../../../src/api/source-traits.ts";
import type { VolumeSource } from "../../../../src/api/types.gen.ts";
import type { VolumeSpec } from "../../../../src/plugins/api/volume-plugin.ts";
import { plugins } from "../../../../src/plugins/registry.ts";
import { entry } from "../../../lib/builders/mount-entries.ts";
import {
  failuresAt,
  planned,
  prefix,
  record,
  stageRecord,
  targetRecord,
  wanted,
} from "../../../lib/builders/plan-world.ts";

const disk: VolumeSource = { emptyDir: {} };
const image: VolumeSource = { image: { reference: `registry.example/a@sha256:${"a".repeat(64)}` } };
const settings: VolumeSource = { configMap: { namespace: "default", name: "settings" } };
const identity = { device: "8:1", root: "/data/k" };
type Mounts = { [name: string]: { fsGroup?: number; readOnly?: boolean } };

const mountsOf = (mounts: Mounts) =>
  Object.entries(mounts).map(([name, more]) => ({ path: `${prefix}/${name}`, name: `set.${name}`, ...more }));
const desired = (source: VolumeSource, mounts: Mounts): DesiredVolume =>
  desiredVolume(wanted({ source, mounts: mountsOf(mounts) }), "key");

/** What is on record: targets with the group that was given for each, or the group that the content was written for. */
function known(given: { [name: string]: number | undefined }, written?: number): VolumeRecord {
  const targets = Object.entries(given).map(([name, fsGroup], index) => {
    const owned = fsGroup === undefined ? {} : { owned: { fsGroup } };
    return targetRecord({
      path: asMountPath(`${prefix}/${name}`),
      name: `set.${name}`,
      identity,
      mountID: 20 + index,
      ...owned,
    });
  });
  const group = written === undefined ? {} : { fsGroup: written };
  const stage = stageRecord({
    kind: "directory",
    path: "/state/data/k",
    options: [],
    identity,
    contentVersion: "1",
    ...group,
  });
  return record({ stage, targets });
}

describe("the group of a volume without a driver", () => {
  const due = (want: DesiredVolume, of: VolumeRecord | undefined) =>
    want.mounts
      .map((m) => fsGroupPlan(m, want, of))
      .map(({ action, want: group }) => (action === "walk" ? group : undefined));

  it("is due for each mount that asks for it and is not on record with it; for one that only reads where all only read", () => {
    expect(due(desired(disk, { a: { fsGroup: 1 }, b: { fsGroup: 1 }, c: {} }), known({ a: 1 }))).to.deep.equal([
      undefined,
      1,
      undefined,
    ]);
    expect(due(desired(disk, { a: { fsGroup: 1, readOnly: true } }), known({ a: undefined }))).to.deep.equal([
      undefined,
    ]);
    expect(due(desired(image, { a: { fsGroup: 1 } }), known({ a: undefined }))).to.deep.equal([1]);
    expect(due(desired(settings, { a: { fsGroup: 1 } }), known({ a: undefined })), "written").to.deep.equal([
      undefined,
    ]);
  });

  it("is the one that the record has, as long as a mount asks for that; no reboot takes the files from it", () => {
    const want = desired(disk, { a: { fsGroup: 1 }, b: { fsGroup: 2 } });
    expect([fsGroupFor(want, known({ b: 2 })), fsGroupFor(want, undefined)]).to.deep.equal([2, 1]);
    const [target] = afterReboot(known({ b: 2 })).targets;
    expect(target).not.to.have.property("owned");
    expect(afterReboot(known({ b: 2 }, 2)).stage?.fsGroup).to.equal(2);
  });

  const written: readonly [string, Mounts, VolumeRecord | undefined, number | undefined][] = [
    ["none", { a: {} }, known({ a: undefined }), undefined],
    ["the first that one asks for", { a: {}, b: { fsGroup: 1 }, c: { fsGroup: 2 } }, undefined, 1],
    [
      "what it was written for, though another is named first",
      { a: { fsGroup: 1 }, b: { fsGroup: 2 } },
      known({}, 2),
      2,
    ],
    ["what it was written for, when nobody asks any more", { a: {} }, known({ a: undefined }, 2), 2],
    ["another, when nobody has that any more", { b: { fsGroup: 1 } }, known({}, 2), 1],
    ["not another, while a mount is on its way out", { b: { fsGroup: 1 } }, known({ a: undefined }, 2), 2],
    ["another at once for the same mount", { a: { fsGroup: 1 } }, known({ a: undefined }, 2), 1],
  ];
  for (const [title, mounts, of, expected] of written) {
    it(`content is written for: ${title}`, () => {
      expect(fsGroupToWrite(desired(settings, mounts), of)).to.equal(expected);
    });
  }

  it("comes before a mount that asks for it, and changes under one that is there", () => {
    const world = (of: VolumeRecord, mounts: Mounts, failures = failuresAt()) => {
      const points = of.targets.map(({ path }, index) =>
        entry({ id: 20 + index, point: path, options: ["ro", "nosuid", "nodev", "relatime"], ...identity }),
      );
      const contents = () => ({ known: true, version: "1" }) as const;
      const intents = [wanted({ source: settings, mounts: mountsOf(mounts) })];
      const { operation } = planned({ intents, records: [of], mounts: points, failures, input: { contents } });
      return operation && `${operation.kind}${"path" in operation ? ` ${operation.path}` : ""}`;
    };
    expect(world(known({}), { a: { fsGroup: 1 } })).to.equal("refresh");
    const failure = {
      kind: "refresh",
      generation: 1,
      nextAt: 1e9,
      nextTime: 1e9,
      firstAt: 0,
      time: 0,
      attempts: 1,
    } as const;
    const full = { ...failure, reason: "SetUpFailed", errorClass: "transient", message: "ENOSPC" } as const;
    const failures = failuresAt([{ volume: known({}).name }, full]);
    expect(world(known({}), { a: { fsGroup: 1 } }, failures), "could not be written").to.equal(undefined);
    expect(world(known({}, 1), { a: { fsGroup: 1 } })).to.equal(`publish ${prefix}/a`);
    expect(world(known({ a: undefined }, 1), { a: { fsGroup: 1 }, b: { fsGroup: 2 } }), "waits").to.equal(undefined);
    expect(world(known({ a: undefined }, 1), { a: { fsGroup: 2 } })).to.equal("refresh");
    expect(world(known({ a: undefined }, 1), { b: { fsGroup: 2 } })).to.equal(`unpublish ${prefix}/a`);
  });

  it("is allowed by the API for exactly the sources that are given to one", () => {
    const spec = { key: "k", nodeName: "n", volumeMode: "Filesystem", mountOptions: [] } as const;
    const sources: { [type in keyof VolumeSource]: unknown } = {
      ...{
        ...disk,
        ...image,
        ...settings,
        local: { path: "/a" },
        iscsi: { targetPortal: "10.0.0.1", iqn: "iqn.2026-01.example:a", lun: 0 },
        fc: { wwids: ["36001"] },
        downwardAPI: { items: [] },
        projected: { sources: [] },
      },
      ...{ secret: { namespace: "a", secretName: "b" }, git: { repository: "https://a.example", revision: "" } },
    };
    const isGiven = (type: keyof VolumeSource, source: unknown) =>
      plugins[type].layout({ ...spec, source: { [type]: source } } as unknown as VolumeSpec).group !== undefined;
    const given = Object.values(plugins).filter(({ type }) => sources[type] && isGiven(type, sources[type]));
    const types = [...given.map(({ type }) => type), "csi", "persistentVolumeClaim"];
    expect(types.sort()).to.deep.equal(sourceTypes.filter((type) => sourceTraits[type].group === true).sort());
    for (const type of ["iscsi", "fc"] as const) {
      const readOnly = { ...(sources[type] as object), readOnly: true };
      expect(isGiven(type, readOnly), `${type}, which nobody can change`).to.equal(false);
    }
  });
});
