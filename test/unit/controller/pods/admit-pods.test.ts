import { expect } from "chai";
import { node, setEntry } from "../objects.ts";
import { mountsOf, oneNode } from "../one-node.ts";
import { ours, pod } from "./pod-objects.ts";
import { claim, forPods, podsIn, refused, team } from "./pod-worlds.ts";

describe("pods of a set", () => {
  it("a set without mounts is on a node while a pod there uses it: one write at the start, one for each further pod, one at the end", () => {
    const world = oneNode([forPods()]);
    expect(world.settle()).to.deep.equal([]);
    world.pods = [pod("team/p")];
    expect(world.settle()).to.deep.equal(["create share"]);
    const { metadata, spec } = world.intent("share");
    expect(spec.pods).to.deep.equal([{ uid: "uid-p", namespace: "team", name: "p", volume: "v", readOnly: false }]);
    expect([spec.mounts, spec.grant?.id]).to.deep.equal([[], "grant-1"]);
    expect(metadata.labels).to.include({ "nodevolume.dev/set": "a", "set.nodevolume.dev/a": "" });
    world.pods = [pod("team/q", { created: 1 }), pod("team/p")];
    expect(world.settle()).to.deep.equal(["patch share"]);
    expect(podsIn(world)).to.deep.equal(["p v", "q v"]);
    expect(world.intent("share").spec.grant?.id).to.equal("grant-1");
    world.pods = [pod("team/q", { created: 1 })];
    expect(world.settle()).to.deep.equal(["patch share"]);
    world.pods = [];
    expect(world.settle()).to.deep.equal(["delete share"]);
  });

  it("a set with mounts keeps them, with pods and without", () => {
    const world = oneNode([setEntry("a", { spec: team })]);
    world.settle();
    world.pods = [pod("team/p")];
    expect(world.settle()).to.deep.equal(["patch share"]);
    expect([podsIn(world), mountsOf(world)]).to.deep.equal([["p v"], ["a.host /mnt/nodevolume/a"]]);
    world.sets = [forPods()];
    expect(world.settle()).to.deep.equal(["patch share"]);
    expect([podsIn(world), mountsOf(world)]).to.deep.equal([["p v"], []]);
    world.sets = [setEntry("a", { spec: team })];
    world.pods = [];
    expect(world.settle()).to.deep.equal(["patch share"]);
    expect(world.intent("share").spec).not.to.have.property("pods");
    expect(mountsOf(world)).to.deep.equal(["a.host /mnt/nodevolume/a"]);
  });

  it("while not all pods are known, those of intents stay exactly, and the mounts of sets go on (law L8)", () => {
    const world = oneNode([setEntry("a", { spec: team }), forPods("b", { volume: { source: { emptyDir: {} } } })]);
    world.pods = [pod("team/p"), pod("team/q", { volumes: [ours({ set: "b" })] })];
    world.settle();
    const before = world.intent("share").spec.pods;
    world.pods = undefined;
    world.sets = [setEntry("a", { spec: { ...team, mounts: [] } }), forPods("b", {}, { deleted: true })];
    expect(world.settle()).to.deep.equal(["patch share"]);
    expect(world.intent("share").spec.pods).to.deep.equal(before);
    expect(podsIn(world, "b")).to.deep.equal(["q v"]);
    expect(world.intent("b").metadata.labels).to.have.property("set.nodevolume.dev/b");
    expect(world.plan().rejections).to.equal(undefined);
    world.pods = [];
    expect(world.settle().sort()).to.deep.equal(["delete b", "delete share"]);
  });

  it("a Node that is not there keeps what its intents have", () => {
    const world = oneNode([forPods()]);
    world.pods = [pod("team/p")];
    world.settle();
    world.node = undefined;
    world.pods = [];
    expect(world.settle()).to.deep.equal([]);
    world.node = node("n1");
    expect(world.settle()).to.deep.equal(["delete share"]);
  });

  it("a pod of the same name with another UID is another entry, beside the one before", () => {
    const world = oneNode([forPods()]);
    world.pods = [pod("team/web-0", { uid: "u1" })];
    world.settle();
    world.pods = [pod("team/web-0", { uid: "u2", created: 9 }), pod("team/web-0", { uid: "u1", deleted: true })];
    world.settle();
    expect(world.intent("share").spec.pods?.map(({ uid }) => uid)).to.deep.equal(["u1", "u2"]);
  });

  it("a pod that is being deleted keeps what it has until it is gone, and gets nothing new", () => {
    const world = oneNode([forPods()]);
    world.pods = [pod("team/p")];
    world.settle();
    world.pods = [pod("team/p", { deleted: true }), pod("team/late", { deleted: true })];
    expect(world.settle()).to.deep.equal([]);
    expect([podsIn(world), refused(world)]).to.deep.equal([["p v"], []]);
  });

  it("the same volume named twice by a pod is two entries; subPath and readOnly are the pod's", () => {
    const world = oneNode([forPods()]);
    const volumes = [ours({ set: "a" }, "x"), ours({ set: "a", subPath: "s/t", readOnly: "true" }, "y")];
    world.pods = [pod("team/p", { volumes })];
    world.settle();
    expect(
      world.intent("share").spec.pods?.map(({ volume, subPath, readOnly }) => [volume, subPath, readOnly]),
    ).to.deep.equal([
      ["x", undefined, false],
      ["y", "s/t", true],
    ]);
  });

  it("a mirror that says it is another pod takes nothing from it, in whatever order they come", () => {
    const annotations = { "kubernetes.io/config.mirror": "uid-p", "kubernetes.io/config.hash": "uid-p" };
    const world = oneNode([forPods("a", { allowedNamespaces: { selector: {} } })]);
    world.namespaces = { team: {}, evil: {} };
    world.pods = [pod("evil/mirror", { annotations }), pod("team/p", { created: 9 })];
    world.settle();
    expect(world.intent("share").spec.pods?.map(({ namespace }) => namespace)).to.deep.equal(["team"]);
  });

  it("a mirror with the UID of a pod that has gone, or is still to come, is no way into what the other has", () => {
    const annotations = { "kubernetes.io/config.mirror": "uid-p", "kubernetes.io/config.hash": "uid-p" };
    const emptyDir = { source: { emptyDir: {} } };
    const world = oneNode([
      setEntry("a", { spec: team }),
      setEntry("b", { spec: { allowedNamespaces: { names: ["evil"] }, volume: emptyDir } }),
    ]);
    const mirror = pod("evil/mirror", { annotations, volumes: [ours({ set: "b" })] });
    world.pods = [pod("team/p"), mirror];
    world.settle();
    expect([podsIn(world), podsIn(world, "b")]).to.deep.equal([["p v"], []]);
    world.pods = [mirror];
    world.settle();
    expect([podsIn(world), podsIn(world, "b")]).to.deep.equal([[], ["mirror v"]]);
    world.pods = [mirror, pod("team/p", { created: 9 })];
    world.settle();
    expect([podsIn(world), podsIn(world, "b")]).to.deep.equal([["p v"], []]);
  });

  it("the group of a pod is not for what a set shares from its node", () => {
    const world = oneNode([forPods()]);
    world.pods = [pod("team/p", { securityContext: { fsGroup: 7 } })];
    world.settle();
    expect(world.intent("share").spec.pods?.[0]).not.to.have.property("fsGroup");
  });

  it("a set that is being deleted loses its pods, and its label stays on a shared intent until the node has let them go", () => {
    const world = oneNode([forPods("a"), forPods("b")]);
    world.pods = [pod("team/p"), pod("team/q", { volumes: [ours({ set: "b" })] })];
    world.settle();
    world.agent();
    const intentName = world.intent("share").metadata.name;
    const states = (uid: string) => ({ uid, volume: "v", state: "Mounted" as const });
    world.change(intentName, (i) => Object.assign(i.status, { pods: [states("uid-p"), states("uid-q")] }));
    world.sets = [forPods("a", {}, { deleted: true }), forPods("b")];
    world.settle();
    expect([podsIn(world), refused(world)]).to.deep.equal([["q v"], ["p SetNotServing"]]);
    expect(world.intent("share").metadata.labels).to.have.property("set.nodevolume.dev/a");
    world.agent();
    world.change(intentName, (i) => Object.assign(i.status, { pods: [states("uid-q")] }));
    world.settle();
    expect(world.intent("share").metadata.labels).not.to.have.property("set.nodevolume.dev/a");
  });

  it("pods stay with their set's volume when it gets another source, and new ones come to the newest", () => {
    const world = oneNode([setEntry("a", { spec: team })]);
    world.pods = [pod("team/old")];
    world.settle();
    world.sets = [setEntry("a", { spec: { ...team, volume: { source: { hostPath: { path: "/data/other" } } } } })];
    world.pods = [pod("team/old"), pod("team/new", { created: 5 })];
    // The rollout has not come to the node: it has the older volume.
    world.settle(() => false);
    expect(podsIn(world)).to.deep.equal(["new v", "old v"]);
    world.pods = [pod("team/old")];
    world.settle();
    expect(mountsOf(world)).to.deep.equal(["a.host /mnt/nodevolume/a"]);
    world.pods = [pod("team/old"), pod("team/newer", { created: 6 })];
    world.settle();
    expect([podsIn(world), podsIn(world, "other")]).to.deep.equal([["old v"], ["newer v"]]);
    world.pods = [pod("team/newer", { created: 6 })];
    expect(world.settle()).to.deep.equal(["delete share"]);
  });

  it("nothing comes to a volume that is being given back; it comes again afterwards", () => {
    const world = oneNode([forPods()]);
    world.pods = [pod("team/p")];
    world.settle();
    world.pods = [];
    world.settle();
    world.pods = [pod("team/q")];
    expect([world.settle(), refused(world)]).to.deep.equal([[], []]);
    world.agent();
    expect(world.settle()).to.deep.equal(["create share"]);
  });

  it("nothing is written for a set that has no finalizer yet", () => {
    const world = oneNode([forPods("a", {}, { finalizers: [] })]);
    world.pods = [pod("team/p")];
    expect([world.settle(), refused(world)]).to.deep.equal([[], []]);
  });

  it("suspended sets and Nodes suspend what is for pods alone, too", () => {
    const world = oneNode([forPods("a", { suspend: true })]);
    world.pods = [pod("team/p"), pod("team/q", { volumes: claim })];
    world.settle();
    expect([world.intent("share").spec.suspend, world.intent("data").spec.suspend]).to.deep.equal([true, false]);
    world.node = node("n1", { labels: { "nodevolume.dev/suspend": "" } });
    world.settle();
    expect(world.intent("data").spec.suspend).to.equal(true);
  });

  it("what is left of a volume by pods alone keeps its options, and follows what its end goes by", () => {
    const nfs = { source: { nfs: { server: "s", path: "/e" } }, mountOptions: ["vers=4.1"] };
    const world = oneNode([forPods("a", { volume: nfs })]);
    world.pods = [pod("team/p")];
    world.settle();
    const unmountPolicy = { max: "Force", timeoutSeconds: 5 } as const;
    world.sets = [forPods("a", { volume: { ...nfs, mountOptions: ["vers=4.2"] }, unmountPolicy })];
    world.pods.push(pod("team/q", { created: 1 }));
    world.settle();
    const { mountOptions, unmountPolicy: inForce } = world.intent("e").spec;
    expect([mountOptions, inForce, podsIn(world, "e")]).to.deep.equal([["vers=4.1"], unmountPolicy, ["p v", "q v"]]);
  });
});
