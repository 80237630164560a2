import { expect } from "chai";
import type { Failure } from "../../../../src/agent/model/failure.ts";
import { asMountPath } from "../../../../src/agent/model/identities.ts";
import type { VolumeRecord } from "../../../../src/agent/model/volume-record.ts";
import type { TearDownData } from "../../../../src/plugins/api/teardown-data.ts";
import { entry } from "../../../lib/builders/mount-entries.ts";
import {
  failuresAt,
  mounted,
  planned,
  prefix,
  record,
  staged,
  stageRecord,
  targetRecord,
  volume,
  type World,
  wanted,
} from "../../../lib/builders/plan-world.ts";

const path = asMountPath(`${prefix}/a`);
const settled = { records: [record()], mounts: [staged, mounted] };
const deleting = (more: object = {}) => [wanted({ deleting: true, generation: 2, ...more })];
const bare = (more: Partial<VolumeRecord> = {}): VolumeRecord => {
  const { stage: _stage, ...rest } = record({ targets: [], ...more });
  return rest;
};
const next = (world: World) => planned(world).operation;

describe("what is kept, and what goes", () => {
  it("is no release while a child that was given up may be at work", () => {
    const world = { intents: deleting(), records: [bare({ child: { pid: 7, startTime: 9 } })] };
    expect(planned(world).phase).to.equal("tearDown");
    expect(planned({ ...world, records: [bare()] }).phase).to.equal("released");
  });

  it("keeps the record of what is mounted, or is to be undone, when the intent has gone", () => {
    const undo = { commands: [] } as unknown as TearDownData;
    expect(next({ records: [record()], mounts: [mounted] })).to.equal(undefined);
    expect(next({ records: [record({ targets: [], stage: stageRecord({ kind: "device", undo }) })] })).to.equal(
      undefined,
    );
    expect(next({ records: [bare()] })).to.deep.equal({ volume, kind: "forget" });
  });

  it("leaves what was left to nobody, though its intent is deleted later", () => {
    const plan = planned({ ...settled, intents: deleting(), records: [record({ retained: true })] });
    expect([plan.phase, plan.operation]).to.deep.equal(["retained", undefined]);
  });

  it("claims what was being released, when it is wanted again", () => {
    const records = [record({ revoked: true })];
    expect(next({ ...settled, intents: [wanted()], records })).to.deep.equal({ volume, kind: "claim" });
  });

  it("goes up the ladder for failures of the same step alone", () => {
    const unmountPolicy = { max: "Lazy", timeoutSeconds: 10 } as const;
    const failed = (kind: Failure["kind"]) => {
      const failure = { kind, generation: 1, firstAt: -60_000, nextAt: 0, attempts: 9 } as unknown as Failure;
      return failuresAt([{ volume, path }, failure]);
    };
    const rungAfter = (kind: Failure["kind"]) =>
      next({ ...settled, intents: deleting({ unmountPolicy }), failures: failed(kind) });
    expect(rungAfter("unpublish")).to.include({ unmountMode: "Lazy" });
    expect(rungAfter("publish")).to.include({ unmountMode: "Normal" });
  });

  it("unmounts what was moved where it is, by the id that no other mount gets", () => {
    const at = `${prefix}/renamed/a`;
    const mounts = [staged, entry({ id: 20, point: at, uniqueID: 4_000 })];
    const records = [record({ targets: [targetRecord({ uniqueID: 4_000 })] })];
    expect(next({ intents: deleting(), records, mounts })).to.deep.equal({
      ...{ volume, kind: "unpublish", path, at, mountID: 20, uniqueID: 4_000, unmountMode: "Normal" },
    });
  });
});

describe("what there is of a volume", () => {
  it("is its own mount by the peer group, whatever has become of its source and its id", () => {
    const [target] = planned({
      intents: [wanted()],
      records: [record({ targets: [targetRecord({ peerGroup: 7 })] })],
      mounts: [staged, entry({ id: 99, point: path, shared: 7, root: "/gone//deleted" })],
    }).actualState.targets;
    expect(target?.ours?.id).to.equal(99);
  });

  it("may not be told without a mount table, and says so; a volume without a grant is not in use all the same", () => {
    const plan = planned({ ...settled, intents: [wanted()], mounts: "unreadable" });
    expect(plan.problems.volume?.reason).to.equal("MountTableUnreadable");
    expect(plan.actualState.inUse).to.equal(true);
    const object = wanted();
    const { grant: _grant, ...spec } = object.spec;
    expect(planned({ intents: [{ ...object, spec }], mounts: "unreadable" }).actualState.inUse).to.equal(false);
    expect(planned({ intents: [object], mounts: "unreadable" }).actualState.inUse).to.equal(true);
  });

  it("has been made read-only by the kernel, unless that was asked for", () => {
    const drift = (options: readonly string[]) =>
      planned({
        intents: [wanted()],
        records: [record({ stage: stageRecord({ options }) })],
        mounts: [{ ...staged, superOptions: ["ro"] }, mounted],
      }).actualState.stage.drift;
    expect(drift(["mode=0777"])).to.equal("ReadOnlyFlip");
    expect(drift(["mode=0777", "ro"])).to.equal(undefined);
  });
});

describe("flags of a target", () => {
  const world = (target: Parameters<typeof targetRecord>[0], mount: Partial<typeof mounted>, readOnly: boolean) => ({
    intents: [wanted({ mounts: [{ path, readOnly }] })],
    records: [record({ targets: [targetRecord(target)] })],
    mounts: [staged, { ...mounted, ...mount }],
  });
  const inPlace = { volume, kind: "setAttributes", path, mountID: 20 };
  const withDev = ["rw", "nosuid", "relatime"];

  it("that somebody has changed are drift, and are set right in place", () => {
    const plan = planned(world({}, { options: withDev }, false));
    expect(plan.operation).to.deep.equal(inPlace);
    expect(plan.actualState.targets[0]?.drift).to.equal("OptionsDiffer");
    const shared = world({ peerGroup: 7 }, { options: withDev, shared: 7 }, false);
    expect(next(shared)).to.deep.equal(inPlace);
  });

  it("that the spec has changed are no drift, and of a shared mount need another one: others would keep the old", () => {
    const plan = planned(world({}, {}, true));
    expect(plan.operation).to.deep.equal(inPlace);
    expect(plan.actualState.targets[0]?.drift).to.equal(undefined);
    const shared = world({ peerGroup: 7 }, { shared: 7 }, true);
    expect(next(shared)).to.deep.equal({ volume, kind: "publish", path, replaces: 20 });
  });
});
