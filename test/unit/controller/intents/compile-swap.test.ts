import { expect } from "chai";
import { label } from "../../../../src/api/names.ts";
import { setsOf } from "../../../../src/controller/intents/write-intents.ts";
import { setStatus } from "../../../../src/controller/sets/set-status.ts";
import { setEntry } from "../objects.ts";
import { oneNode } from "../one-node.ts";

/** A set whose volume the node itself uses: no mount says that it is wanted. */
const swap = (name = "a", options: object = {}) =>
  setEntry(name, {
    spec: { volume: { source: { local: { path: "/dev/sdb" } }, fsType: "swap", ...options }, mounts: [] },
  });
const gone = (name: string) => ({
  ...swap(name),
  metadata: { ...swap(name).metadata, deletionTimestamp: "2026-01-01T00:00:00Z" },
});

describe("compileNode: volumes that the node itself uses", () => {
  it("a set of swap gets an intent without mounts, and is counted", () => {
    const world = oneNode([swap()]);
    expect(world.settle()).to.deep.equal(["create sdb"]);
    const { metadata, spec } = world.intent("sdb");
    expect([spec.mounts, spec.fsType]).to.deep.equal([[], "swap"]);
    expect(metadata.labels).to.include({ [label.set]: "a", "set.nodevolume.dev/a": "" });
    world.agent();
    expect(world.settle()).to.deep.equal([]);
    const nodes = [...world.setsOnNode().values()].map((onNode) => ({ node: "n1", onNode }));
    const input = { entry: swap(), nodes, rollout: { admitted: new Set<string>(), outdated: 0 }, pods: undefined };
    const status = setStatus({ ...input, remaining: { intents: 1, lost: [] } } as never, 0);
    expect(status).to.include({ desired: 1, updated: 1, ready: 1 });
    expect(status.conditions?.[0]).to.include({ type: "Ready", status: "True", reason: "AllReady" });
  });

  it("other options are rolled out to it, as of its set", () => {
    const world = oneNode([swap()]);
    world.settle();
    world.sets = [swap("a", { mountOptions: ["pri=5"] })];
    expect(world.settle(() => false)).to.deep.equal([]);
    const writes = world.writes();
    expect(writes.flatMap((write) => [...setsOf(write)])).to.deep.equal(["a"]);
    expect(world.settle()).to.deep.equal(["patch sdb"]);
    expect(world.intent("sdb").spec.mountOptions).to.deep.equal(["pri=5"]);
  });

  it("it goes with its set, and with the last one of two", () => {
    const world = oneNode([swap("a"), swap("b")]);
    world.settle();
    world.agent();
    world.sets = [gone("a"), swap("b")];
    world.settle();
    expect(Object.keys(world.intent("sdb").metadata.labels ?? {})).to.include("set.nodevolume.dev/b");
    expect(Object.keys(world.intent("sdb").metadata.labels ?? {})).not.to.include("set.nodevolume.dev/a");
    world.sets = [gone("b")];
    expect(world.settle()).to.deep.equal(["delete sdb"]);
  });

  it("it stays when the set vanishes unexplained, or is not understood (law L8)", () => {
    const world = oneNode([swap()]);
    world.settle();
    world.sets = [];
    expect(world.settle()).to.deep.equal([]);
    world.sets = [{ ...swap(), spec: undefined, invalid: "what is that" }];
    expect(world.settle()).to.deep.equal([]);
  });

  it("two sets that want it otherwise are in conflict, and who has it keeps it", () => {
    const world = oneNode([swap()]);
    world.settle();
    world.sets = [swap(), swap("b", { mountOptions: ["pri=5"] })];
    expect(world.settle()).to.deep.equal([]);
    expect(world.setsOnNode().get("b")?.conflicts).to.deep.equal([{ with: "a", over: "settings" }]);
  });
});
