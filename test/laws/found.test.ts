import { expect } from "chai";
import { asIntentUID, asVolumeName } from "../../src/agent/model/identities.ts";
import { statusOf } from "../../src/agent/status/intent-status.ts";
import { entry } from "../lib/builders/mount-entries.ts";
import {
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
} from "../lib/builders/plan-world.ts";

const foreign = { device: "0:99", source: "foreign" } as const;
const path = `${prefix}/a`;
const context = { agent: { bootID: "boot-1", epoch: 1 }, now: 0 };

/** Each of these broke a law once: the smallest world in which it did. */
describe("What the laws have found", () => {
  it("L2: a mount whose id was not learned, renamed since, beneath a foreign one, is not absent", () => {
    const { mountID: _unknown, ...target } = targetRecord();
    const layers = [
      entry({ id: 20, point: path, root: "/moved" }),
      entry({ id: 21, parent: 20, point: path, ...foreign }),
    ];
    const { actualState } = planned({
      intents: [wanted()],
      records: [record({ targets: [target] })],
      mounts: [staged, ...layers],
    });
    expect(actualState.targets[0]?.truth).to.equal("uncertain");
  });

  it("L2: an observing intent that is deleted does not call released what an intent before it has left", () => {
    const intent = wanted({ mode: "Observe", deleting: true, uid: "uid-2" });
    const plan = planned({ intents: [intent], records: [record()], mounts: [staged, mounted] });
    expect(plan.operation).to.equal(undefined);
    expect(statusOf(intent, plan, context)).to.include({ inUse: true, state: "Observed" });
  });

  it("L8: the release of an intent takes down nothing of the one before it, also when it has vanished by then", () => {
    const left = record({
      uid: asIntentUID("uid-2"),
      revoked: true,
      targets: [targetRecord({ uid: asIntentUID("uid-1") })],
    });
    const plan = planned({ records: [left], mounts: [staged, mounted] });
    expect(plan.operation).to.equal(undefined);
    expect(plan.phase).to.equal("unexplained");
  });

  it("L5: what an intent before it has left no longer blocks a release when people have unmounted it", () => {
    const left = record({ uid: asIntentUID("uid-2"), targets: [targetRecord({ uid: asIntentUID("uid-1") })] });
    const deleting = wanted({ uid: "uid-2", deleting: true });
    const { operation } = planned({ intents: [deleting], records: [left], mounts: [staged] });
    expect(operation).to.deep.equal({ volume, kind: "unpublish", path, unmountMode: "Normal" });
  });

  it("L8: what was given up on purpose stays, though its release had begun before", () => {
    const left = record({ revoked: true, retained: true });
    expect(planned({ records: [left], mounts: [staged, mounted] }).operation).to.equal(undefined);
  });

  it("L8: a suspended volume whose options changed is not unmounted, for it would not be mounted again", () => {
    const other = record({ stage: stageRecord({ options: ["mode=0777", "size=65536"] }) });
    const world = { intents: [wanted({ suspend: true })], records: [other], mounts: [staged, mounted] };
    expect(planned(world).operation).to.equal(undefined);
  });

  it("L8: a mount stays on its old path while the new one cannot be mounted", () => {
    const moved = wanted({ mounts: [{ path: `${prefix}/b` }], generation: 2 });
    const blocked = entry({ id: 30, point: `${prefix}/b`, ...foreign });
    expect(planned({ intents: [moved], records: [record()], mounts: [staged, mounted] }).operation).to.deep.equal({
      volume,
      kind: "publish",
      path: `${prefix}/b`,
    });
    expect(planned({ intents: [moved], records: [record()], mounts: [staged, mounted, blocked] }).operation).to.equal(
      undefined,
    );
  });

  it("L5: a mount that moves to a path beneath its own goes first, for the new one would be inside of it", () => {
    const moved = wanted({ mounts: [{ path: `${path}/deep` }], generation: 2 });
    const { operation } = planned({ intents: [moved], records: [record()], mounts: [staged, mounted] });
    expect(operation).to.deep.equal({ volume, kind: "unpublish", path, mountID: 20, unmountMode: "Normal" });
  });

  it("L3: a target without a record is found though the stage is on record without its identity", () => {
    const { identity: _unknown, ...stage } = stageRecord({ ready: false });
    const deleting = wanted({ deleting: true });
    const input = { mayHaveLost: true };
    const world = { intents: [deleting], records: [record({ stage, targets: [] })], mounts: [staged, mounted], input };
    expect(planned(world).operation).to.deep.equal({ volume, kind: "adopt", path, mountID: 20 });
  });

  it("L5: a volume that was never set up is released, though another one of the same file system has its path", () => {
    const name = asVolumeName("node.volume-2");
    const source = { hostPath: { path: "/srv/other" } } as const;
    const deleting = wanted({ name, source, deleting: true });
    const identity = { device: "8:1", root: "/srv/data" };
    const own = record({
      type: "hostPath",
      stage: stageRecord({ kind: "path", path: "/srv/data", options: [], identity }),
      targets: [targetRecord({ identity })],
    });
    const intents = [wanted({ source: { hostPath: { path: "/srv/data" } } }), deleting];
    const observed = new Map([
      [
        name,
        { uid: asIntentUID("uid-1"), generation: 1, at: 0, source: { identity: { ...identity, root: "/srv/other" } } },
      ],
    ]);
    const mounts = [entry({ id: 20, point: path, fsType: "ext4", source: "/dev/sda1", ...identity })];
    expect(planWorld({ intents, records: [own], mounts, input: { observed } }).volumes.get(name)?.phase).to.equal(
      "released",
    );
  });
});
