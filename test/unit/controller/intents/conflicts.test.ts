import { expect } from "chai";
import { node, setEntry } from "../objects.ts";
import type { OneNode } from "../one-node.ts";
import { mountsOf, oneNode } from "../one-node.ts";

/** A set with a volume of its own, at these paths beneath the allowed prefix. */
function at(name: string, ...paths: string[]) {
  const mounts = paths.map((path, i) => ({ name: `m${i}`, path: `/mnt/nodevolume/${path}` }));
  return setEntry(name, { spec: { volume: { source: { hostPath: { path: `/data/${name}` } } }, mounts } });
}

function conflictsOf(world: OneNode): { [set: string]: string[] } {
  const short = (path: string | undefined) => path?.replace("/mnt/nodevolume/", "");
  const told = [...world.setsOnNode().values()].map(({ set, conflicts }) => [
    set,
    conflicts.map((c) =>
      c.paths?.own === c.paths?.other
        ? `${c.with} ${short(c.paths?.own) ?? c.over}`
        : `${c.with} ${short(c.paths?.other)} for ${short(c.paths?.own)}`,
    ),
  ]);
  return Object.fromEntries(told);
}

describe("resolveConflicts: two sets that want one path", () => {
  it("nobody has it: nobody gets it, both are told", () => {
    const world = oneNode([at("a", "x"), at("b", "x")]);
    expect(world.settle()).to.deep.equal([]);
    expect(conflictsOf(world)).to.deep.equal({ a: ["b x"], b: ["a x"] });
  });

  it("one beneath the other is the same thing, and each is told of the other's path", () => {
    const world = oneNode([at("a", "x"), at("b", "x/deep/er")]);
    expect(world.settle()).to.deep.equal([]);
    expect(conflictsOf(world)).to.deep.equal({ a: ["b x/deep/er for x"], b: ["a x for x/deep/er"] });
  });

  it("a common beginning of the name is not", () => {
    const world = oneNode([at("a", "x"), at("b", "x-1", "x1")]);
    expect(world.settle()).to.have.length(2);
    expect(conflictsOf(world)).to.deep.equal({ a: [], b: [] });
  });

  it("who has it keeps it and goes on; who has it not gets nothing new anywhere", () => {
    const world = oneNode([at("a", "x")]);
    world.settle();
    world.sets = [at("a", "x", "y"), at("b", "x", "z")];
    world.settle();
    expect(mountsOf(world)).to.deep.equal(["a.m0 /mnt/nodevolume/x", "a.m1 /mnt/nodevolume/y"]);
    expect(conflictsOf(world)).to.deep.equal({ a: ["b x"], b: ["a x"] });
  });

  it("who is in conflict over something new keeps what it has, exactly", () => {
    const world = oneNode([at("a", "x"), at("b", "z")]);
    world.settle();
    world.sets = [at("a", "x"), at("b", "x")];
    expect(world.settle()).to.deep.equal([]);
    expect(mountsOf(world)).to.include("b.m0 /mnt/nodevolume/z");
  });

  it("ends when one of them gives way", () => {
    const world = oneNode([at("a", "x"), at("b", "x")]);
    world.settle();
    world.sets = [at("a", "elsewhere"), at("b", "x")];
    expect(world.settle()).to.deep.equal(["create a", "create b"]);
    expect(conflictsOf(world)).to.deep.equal({ a: [], b: [] });
  });

  it("a set on another node is no conflict", () => {
    const elsewhere = setEntry("b", {
      spec: { nodeSelector: { zone: "other" }, mounts: [{ name: "m0", path: "/mnt/nodevolume/x" }] },
    });
    const world = oneNode([at("a", "x"), elsewhere]);
    expect(world.settle()).to.deep.equal(["create a"]);
  });

  it("a set that is gone still has its paths", () => {
    const world = oneNode([at("a", "x")]);
    world.settle();
    world.sets = [at("b", "x")];
    expect(world.settle()).to.deep.equal([]);
    expect(conflictsOf(world)["b"]).to.deep.equal(["a x"]);
  });

  it("a set that is on its way out is waited for, without a conflict", () => {
    const world = oneNode([at("a", "x")]);
    world.settle();
    world.sets = [at("a", "y"), at("b", "x")];
    const onlyB = (set: string) => set === "b";
    expect(world.settle(onlyB)).to.deep.equal([]);
    expect(conflictsOf(world)).to.deep.equal({ a: [], b: [] });
    expect(world.setsOnNode().get("b")).to.deep.include({ held: true, waitsFor: "a" });
    expect(world.settle()).to.deep.equal(["patch a", "create b"]);
  });

  it("a path beneath one that is on its way out is waited for, too", () => {
    for (const [has, wants] of [
      ["x", "x/deep"],
      ["x/deep", "x"],
    ] as const) {
      const world = oneNode([at("a", has)]);
      world.settle();
      world.sets = [at("a", "y"), at("b", wants)];
      expect(world.pass(() => true)).to.deep.equal(["patch a"]);
      expect(world.pass()).to.deep.equal(["create b"]);
    }
  });

  it("sets that exchange their paths are told, for nobody can go first", () => {
    const world = oneNode([at("a", "x"), at("b", "y")]);
    world.settle();
    world.sets = [at("a", "y"), at("b", "x")];
    expect(world.settle()).to.deep.equal([]);
    expect(conflictsOf(world)).to.deep.equal({ a: ["b exchange"], b: ["a exchange"] });
  });

  it("a path that is being released may be announced for another set: the agent orders them", () => {
    const world = oneNode([at("a", "x")]);
    world.settle();
    world.node = node("n1");
    world.sets = [setEntry("a", { deleted: true }), at("b", "x")];
    expect(world.settle()).to.deep.equal(["delete a", "create b"]);
  });
});

describe("resolveConflicts: two sets that want one volume with different settings", () => {
  const shared = (name: string, max: "Normal" | "Lazy") =>
    setEntry(name, { spec: { unmountPolicy: { max, timeoutSeconds: 90 } } });

  it("nobody has it: nobody gets it", () => {
    const world = oneNode([shared("a", "Normal"), shared("b", "Lazy")]);
    expect(world.settle()).to.deep.equal([]);
    expect(conflictsOf(world)).to.deep.equal({ a: ["b settings"], b: ["a settings"] });
  });

  it("the same options in another order are no other settings, and write nothing", () => {
    const exported = (name: string, ...mountOptions: ("hard" | "timeo=600")[]) => {
      const volume = { source: { nfs: { server: "srv", path: "/x" } }, mountOptions };
      const mounts = [{ name: "m", path: `/mnt/nodevolume/${name}` }];
      return setEntry(name, { spec: { volume, mounts } });
    };
    const world = oneNode([exported("a", "hard", "timeo=600"), exported("b", "timeo=600", "hard")]);
    world.settle();
    expect(conflictsOf(world)).to.deep.equal({ a: [], b: [] });
    expect(mountsOf(world)).to.have.length(2);
    world.sets = [exported("a", "timeo=600", "hard"), exported("b", "timeo=600", "hard")];
    expect(world.settle()).to.deep.equal([]);
  });

  it("who has it keeps it, and may change it", () => {
    const world = oneNode([shared("a", "Normal")]);
    world.settle();
    world.sets = [shared("a", "Normal"), shared("b", "Lazy")];
    expect(world.settle()).to.deep.equal([]);
    expect(conflictsOf(world)).to.deep.equal({ a: ["b settings"], b: ["a settings"] });
    world.sets = [shared("a", "Lazy"), shared("b", "Lazy")];
    world.settle();
    expect(mountsOf(world)).to.have.length(2);
  });

  it("if both have it, it stays as it is", () => {
    const world = oneNode([shared("a", "Normal"), shared("b", "Normal")]);
    world.settle();
    world.sets = [shared("a", "Lazy"), shared("b", "Normal")];
    expect(world.settle()).to.deep.equal([]);
    expect(world.intent("share").spec.unmountPolicy.max).to.equal("Normal");
    expect(mountsOf(world)).to.have.length(2);
  });
});
