import { expect } from "chai";
import { asMountPath } from "../../../../src/agent/model/identities.ts";
import type { Operation } from "../../../../src/agent/model/operation.ts";
import { statusOf } from "../../../../src/agent/status/intent-status.ts";
import { entry } from "../../../lib/builders/mount-entries.ts";
import {
  mounted,
  planned,
  prefix,
  record,
  staged,
  stageRecord,
  targetRecord,
  type World,
  wanted,
} from "../../../lib/builders/plan-world.ts";

const path = `${prefix}/a`;
const view = (world: World) => planned({ intents: [wanted()], records: [record()], ...world }).actualState;
const other = { device: "0:99", source: "other" };

/** The operation that is planned, without the volume's name. */
function next(world: World): Omit<Operation, "volume"> | undefined {
  const { operation } = planned(world);
  if (operation === undefined) return undefined;
  const { volume: _volume, ...action } = operation;
  return action;
}

describe("three truths, by record and table", () => {
  const unready = record({ stage: stageRecord({ ready: false }) });
  const { stage: _stage, ...unrecorded } = record({ targets: [] });
  const stages: [what: string, truth: string, world: World][] = [
    ["on record and in the table", "mounted", { mounts: [staged] }],
    ["on record, not in the table", "absent", { mounts: [] }],
    ["in the table, its end not written down", "uncertain", { records: [unready], mounts: [staged] }],
    ["on our staging path, not on record", "uncertain", { records: [unrecorded], mounts: [staged] }],
    ["of another file system than on record", "uncertain", { mounts: [{ ...staged, ...other }] }],
    ["covered by another", "uncertain", { mounts: [staged, { ...staged, id: 11, parent: 10, ...other }] }],
    ["on record, the table unreadable", "uncertain", { mounts: "unreadable" }],
  ];
  for (const [what, truth, world] of stages) {
    it(`a stage ${what} is ${truth}`, () => expect(view(world).stage.truth).to.equal(truth));
  }

  const { mountID: _id, ...unnoted } = targetRecord();
  const targets: [what: string, truth: string, world: World][] = [
    ["on record and in the table", "mounted", { mounts: [staged, mounted] }],
    ["on record, not in the table", "absent", { mounts: [staged] }],
    ["with another file system in its place", "absent", { mounts: [staged, { ...mounted, ...other }] }],
    [
      "that shows something else of our file system, which one is ours not written down",
      "uncertain",
      { records: [record({ targets: [unnoted] })], mounts: [staged, { ...mounted, root: "/renamed" }] },
    ],
    ["covered by another", "uncertain", { mounts: [staged, mounted, { ...mounted, id: 21, parent: 20, ...other }] }],
    ["on record, the table unreadable", "uncertain", { mounts: "unreadable" }],
  ];
  for (const [what, truth, world] of targets) {
    it(`a target ${what} is ${truth}`, () => expect(view(world).targets[0]?.truth).to.equal(truth));
  }
});

describe("what is uncertain", () => {
  const uncertain = record({ stage: stageRecord({ ready: false }), targets: [] });
  const deleting = [wanted({ deleting: true, generation: 2 })];

  it("is set up again when it is wanted", () => {
    expect(next({ intents: [wanted()], records: [uncertain], mounts: [staged] })).to.deep.equal({ kind: "stage" });
    const { mountID: _id, ...unnoted } = targetRecord();
    const half = { intents: [wanted()], records: [record({ targets: [unnoted] })] };
    expect(next({ ...half, mounts: [staged] })).to.deep.equal({ kind: "publish", path });
    expect(next({ ...half, mounts: [staged, mounted] })).to.deep.equal({ kind: "note", path, mountID: 20 });
  });

  it("is taken down when it is not: a stage whose end was not written down, and one that no record names", () => {
    const unstage = { kind: "unstage", mountID: 10, unmountMode: "Normal" };
    expect(next({ intents: deleting, records: [uncertain], mounts: [staged] })).to.deep.equal(unstage);
    expect(next({ intents: deleting, mounts: [staged] })).to.deep.equal(unstage);
  });

  it("is taken down when it is not: a target of which nobody knows whether it was mounted", () => {
    const { mountID: _id, ...unnoted } = targetRecord();
    const half = { intents: deleting, records: [record({ targets: [unnoted] })] };
    const unpublish = { kind: "unpublish", path, unmountMode: "Normal" };
    expect(next({ ...half, mounts: [staged, mounted] })).to.deep.equal({ ...unpublish, mountID: 20 });
    expect(next({ ...half, mounts: [staged] }), "dropped, which is no error").to.deep.equal(unpublish);
  });

  it("counts as in use until its record is gone", () => {
    expect(planned({ intents: deleting, records: [uncertain], mounts: [] }).actualState.inUse).to.equal(true);
    expect(planned({ intents: deleting, mounts: [staged] }).actualState.inUse).to.equal(true);
    const bound = record({ type: "hostPath", stage: stageRecord({ kind: "path", path: "/src" }) });
    expect(planned({ records: [bound], mounts: "unreadable" }).actualState.inUse, "a target").to.equal(true);
    expect(planned({ records: [bound] }).actualState.inUse).to.equal(false);
    expect(planned({ intents: deleting }).actualState.inUse).to.equal(false);
  });
});

describe("what is asked of a volume that is there", () => {
  it("in this order: staged, content, options, what each target shows, which mount it is, its flags", () => {
    const intents = [wanted({ source: { secret: { namespace: "default", secretName: "s" } } })];
    const options = ["mode=0755"];
    const elsewhere = { device: "0:50", root: "/old" };
    const { mountID: _id, ...unnoted } = targetRecord();
    const old = { ...unnoted, identity: elsewhere };
    const shows = (root: string) => [staged, { ...mounted, root }];
    const all = (stage: object, target: object, mounts = shows("/old")): World => {
      const targets = [{ ...unnoted, ...target }];
      return { intents, records: [record({ type: "secret", stage: stageRecord(stage), targets })], mounts };
    };
    const done = { options, contentVersion: "u/1" };
    const worlds: World[] = [
      all({ ready: false, options: [], contentVersion: "u/0" }, old),
      all({ options: [], contentVersion: "u/0" }, old),
      all({ options: [], contentVersion: "u/1" }, old),
      all(done, old),
      all(done, {}, shows("/")),
      all(done, { mountID: 20 }, shows("/")),
      all(done, { mountID: 20 }, [staged, { ...mounted, options: ["ro", "nosuid", "nodev", "relatime"] }]),
    ];
    const kinds = worlds.map((world) => next(world)?.kind ?? "nothing");
    expect(kinds).to.deep.equal(["stage", "refresh", "reconfigure", "publish", "note", "setAttributes", "nothing"]);
  });

  it("consumers that left first, then the stage, then targets", () => {
    const left = targetRecord({ path: asMountPath(`${prefix}/left`), name: "set.left", mountID: 30 });
    const there = entry({ id: 30, point: `${prefix}/left` });
    const both = record({ stage: stageRecord({ ready: false }), targets: [left] });
    const world = { intents: [wanted()], records: [both], mounts: [staged, there] };
    expect(next(world)).to.deep.include({ kind: "unpublish", path: left.path });
    expect(planned(world).pending).to.deep.equal([`unmount ${left.path}`, "stage the volume"]);
  });
});

describe("the path of a device in a status", () => {
  const context = { agent: { bootID: "b", epoch: 1 }, now: 0 };
  const onDisk = record({
    type: "local",
    stage: stageRecord({ options: [], deviceNumber: "8:16", identity: { device: "8:16", root: "/" } }),
    targets: [],
  });
  const intent = wanted({ source: { local: { path: "/dev/disk/by-id/x" } } });
  const disk = { ...staged, device: "8:16", fsType: "ext4", source: "/dev/sdb" };
  const devicePath = (mounts: World["mounts"] = []) =>
    statusOf(intent, planned({ intents: [intent], records: [onDisk], mounts }), context).devicePath;

  it("is the one that the table shows, and is said of no mount that is not there", () => {
    expect(devicePath([disk])).to.equal("/dev/sdb");
    expect(devicePath([{ ...disk, source: "/dev/sdc" }]), "renamed since").to.equal("/dev/sdc");
    expect(devicePath([])).to.equal(undefined);
    expect(devicePath("unreadable")).to.equal(undefined);
  });
});
