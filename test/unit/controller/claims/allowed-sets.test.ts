import { expect } from "chai";
import { allowing } from "../../../../hack/lib/allowing.ts";
import { claimNotAllowed } from "../../../../src/controller/claims/allowed-sets.ts";
import { projectClaim } from "../../../../src/controller/model/storage-objects.ts";
import { requestersOf } from "../../../../src/controller/model/volume-identity.ts";
import { attachment, decide, facts, member } from "../attach/facts-of.ts";
import { setEntry } from "../objects.ts";
import { mountsOf, oneNode } from "../one-node.ts";
import { ours, pod } from "../pods/pod-objects.ts";
import { podsIn, refused } from "../pods/pod-worlds.ts";

function claim(labels?: { [key: string]: string }, name = "data") {
  const projected = projectClaim({ metadata: { name, namespace: "apps", ...(labels && { labels }) } });
  if (projected === undefined) throw new Error("no claim");
  return projected;
}

const key = "allowed-set.nodevolume.dev/s";

describe("claimNotAllowed", () => {
  type Case = readonly [what: string, labels: { [key: string]: string } | undefined, allowed: boolean];
  const cases: readonly Case[] = [
    ["no labels", undefined, false],
    ["other labels", { app: "db", "nodevolume.dev/reserved": "true" }, false],
    ["the label", { [key]: "true" }, true],
    ["that of another set", allowing("other"), false],
    ["that of a set whose name begins so", allowing("s-2"), false],
    ...["", "false", "True", "yes", "s"].map((value) => [`the value ${value}`, { [key]: value }, false] as const),
    ["those of both", allowing("other", "s"), true],
  ];
  for (const [what, labels, allowed] of cases) {
    it(`${what}: ${allowed ? "allows" : "does not allow"} the set`, () => {
      expect(claimNotAllowed([claim(labels)], ["s"]) === undefined).to.equal(allowed);
    });
  }

  it("every claim must allow every set; the first that does not is named, with the label that it lacks", () => {
    const [one, two] = [claim(allowing("s", "t")), claim(allowing("s"), "twin")];
    expect(claimNotAllowed([one, two], ["s"])).to.equal(undefined);
    expect(claimNotAllowed([one, two], ["s", "t"])).to.deep.equal({
      reason: "ClaimNotAllowed",
      message: "claim apps/twin does not allow set t: it has no label allowed-set.nodevolume.dev/t=true",
      on: { kind: "PersistentVolumeClaim", namespace: "apps", name: "twin" },
    });
    expect([claimNotAllowed([], ["s"]), claimNotAllowed([claim()], [])], "nobody asks").to.deep.equal([
      undefined,
      undefined,
    ]);
  });
});

describe("a grant of a volume whose claim does not allow the set", () => {
  it("is not given, also if the set names the volume itself; what is granted stays", () => {
    const [denied, given] = [{ claims: [claim()] }, { claims: [claim({ [key]: "true" })] }];
    expect(decide([member("n0")], [], denied)).to.deep.equal(["n0: ClaimNotAllowed"]);
    expect(decide([member("n0")], [attachment("n0")], given)).to.deep.equal(["n0: grant"]);
    const one = member("n0");
    if (!("id" in one.resolution)) throw new Error("not resolved");
    const named = { ...one, resolution: { ...one.resolution, claim: claim() } };
    expect(decide([named])).to.deep.equal(["n0: ClaimNotAllowed"]);
    const held = decide([member("n0", { granted: "attached" })], [attachment("n0", { grant: "g" })], denied);
    expect(held).to.deep.equal(["n0: "]);
    expect(facts([]).claims).to.deep.equal([]);
  });

  it("keeps no attachment that was made for it, but one that a grant rested on", () => {
    const denied = { claims: [claim()] };
    expect(decide([member("n0")], [attachment("n0")], denied)).to.deep.equal(["n0: ClaimNotAllowed", "-n0"]);
    const used = decide([member("n0")], [attachment("n0", { grant: "g" })], denied);
    expect(used).to.deep.equal(["n0: ClaimNotAllowed"]);
    const granting = decide([member("n0", { granting: true })], [attachment("n0")], denied);
    expect(granting, "perhaps granted").to.deep.equal(["n0: grant"]);
  });
});

describe("a set that its claim does not allow, on a node", () => {
  const source = { persistentVolumeClaim: { namespace: "team", claimName: "data" } };
  const no = { reason: "ClaimNotAllowed", message: "claim team/data does not allow set s" } as const;
  const csiSet = (more = {}) => setEntry("s", { spec: { volume: { source }, ...more } });
  const requesters = (world: ReturnType<typeof oneNode>) => [...requestersOf(world.intent("data"))];
  const grant = (world: ReturnType<typeof oneNode>) =>
    world.change(world.intent("data").metadata.name, ({ spec }) => Object.assign(spec, { grant: { id: "g" } }));
  const moved = csiSet({ mounts: [{ name: "host", path: "/mnt/nodevolume/elsewhere" }] });

  it("has no intent, and an obstacle; it has both once it is allowed", () => {
    const world = oneNode([csiSet()]);
    world.consents.set("s", no);
    expect(world.settle()).to.deep.equal([]);
    expect(world.setsOnNode().get("s")).to.deep.include({ selected: true, state: "absent", held: true, obstacle: no });
    world.consents.delete("s");
    expect(world.settle()).to.deep.equal(["create data"]);
  });

  it("waits without a word while claims are not known, and keeps what it has", () => {
    const world = oneNode([csiSet()]);
    world.consents.set("s", "unknown");
    expect([world.settle(), world.setsOnNode().get("s")?.obstacle]).to.deep.equal([[], undefined]);
    world.consents.delete("s");
    world.settle();
    world.consents.set("s", "unknown");
    world.sets = [moved];
    expect([world.settle(), mountsOf(world)]).to.deep.equal([[], ["s.host /mnt/nodevolume/s"]]);
  });

  it("says so while claims are read anew, too, if its status did", () => {
    const failing = [{ node: "n1", ...no }];
    const world = oneNode([csiSet()]);
    world.settle();
    grant(world);
    world.consents.set("s", "unknown");
    world.sets = [{ ...csiSet(), status: { failing } as never }];
    expect([world.settle(), world.setsOnNode().get("s")?.obstacle]).to.deep.equal([[], no]);
    world.consents.delete("s");
    expect(world.setsOnNode().get("s")?.obstacle).to.equal(undefined);
  });

  it("loses what was never granted, and keeps what was, exactly as it is", () => {
    const world = oneNode([csiSet()]);
    world.settle();
    world.consents.set("s", no);
    expect(world.settle()).to.deep.equal(["delete data"]);
    world.agent();
    world.consents.delete("s");
    world.settle();
    grant(world);
    world.consents.set("s", no);
    expect([world.settle(), world.setsOnNode().get("s")?.obstacle]).to.deep.equal([[], no]);
    world.sets = [moved];
    expect([world.settle(), mountsOf(world)]).to.deep.equal([[], ["s.host /mnt/nodevolume/s"]]);
    world.sets = [setEntry("s", { deleted: true, spec: { volume: { source } } })];
    expect(world.settle(), "the way out is open").to.deep.equal(["delete data"]);
  });

  it("joins no pod of the namespace that has the claim, and holds up none", () => {
    const world = oneNode([csiSet()]);
    world.consents.set("s", no);
    world.pods = [pod("team/p", { volumes: [ours({ persistentVolumeClaim: "data" })] })];
    expect(world.settle()).to.deep.equal(["create data"]);
    grant(world);
    expect([world.settle(), podsIn(world, "data"), mountsOf(world)]).to.deep.equal([[], ["p v"], []]);
    world.consents.delete("s");
    expect([world.settle(), mountsOf(world)]).to.deep.equal([["patch data"], ["s.host /mnt/nodevolume/s"]]);
  });

  it("gives it to no pod, but to those that have it already", () => {
    const allowedNamespaces = { names: ["apps"] };
    const world = oneNode([csiSet({ mounts: [], allowedNamespaces })]);
    world.pods = [pod("apps/p", { volumes: [ours({ set: "s" })] })];
    world.consents.set("s", "unknown");
    expect([world.settle(), refused(world)]).to.deep.equal([[], []]);
    world.consents.set("s", no);
    expect([world.settle(), refused(world)]).to.deep.equal([[], ["p ClaimNotAllowed"]]);
    world.consents.delete("s");
    expect([world.settle(), refused(world)]).to.deep.equal([["create data"], []]);
    grant(world);
    world.consents.set("s", no);
    world.pods = [...world.pods, pod("apps/q", { volumes: [ours({ set: "s" })], created: 1 })];
    world.settle();
    expect([podsIn(world, "data"), refused(world)]).to.deep.equal([["p v"], ["q ClaimNotAllowed"]]);
  });

  it("loses its pods that were never granted it, so that they hold up no pod of the namespace", () => {
    const world = oneNode([csiSet({ mounts: [], allowedNamespaces: { names: ["apps"] } })]);
    world.pods = [
      pod("apps/p", { volumes: [ours({ set: "s" })] }),
      pod("team/own", { volumes: [ours({ persistentVolumeClaim: "data" })], created: 1 }),
    ];
    world.settle();
    expect([podsIn(world, "data"), requesters(world)]).to.deep.equal([["own v", "p v"], ["s"]]);
    world.consents.set("s", "unknown");
    expect(world.settle()).to.deep.equal([]);
    world.consents.set("s", no);
    world.settle();
    world.agent();
    world.settle();
    expect([podsIn(world, "data"), requesters(world)]).to.deep.equal([["own v"], []]);
    expect(refused(world)).to.deep.equal(["p ClaimNotAllowed"]);
  });

  it("may not even observe it: its settings would be in the way of a set that the claim allows", () => {
    const world = oneNode([csiSet({ mode: "Observe" })]);
    world.consents.set("s", no);
    expect(world.settle()).to.deep.equal([]);
    world.consents.delete("s");
    expect(world.settle()).to.deep.equal(["create data"]);
    world.consents.set("s", no);
    expect(world.settle()).to.deep.equal(["delete data"]);
  });
});
