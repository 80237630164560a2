import { expect } from "chai";
import { node, setEntry } from "../objects.ts";
import { mountsOf, oneNode } from "../one-node.ts";
import { ours, pod } from "./pod-objects.ts";
import { forPods, podsIn, refused, team } from "./pod-worlds.ts";

const claimed = { persistentVolumeClaim: "data" };
const blockVolume = { source: { local: { path: "/dev/x" } }, volumeMode: "Block" } as const;

describe("pods of a set that wait, or share", () => {
  for (const [what, set, expected] of [
    ["there is no such set", [], "SetNotFound"],
    ["the set is not understood", [setEntry("a", { spec: { future: true } as object })], "SetNotServing"],
    ["the set is being deleted", [forPods("a", {}, { deleted: true })], "SetNotServing"],
    ["the set only observes", [forPods("a", { mode: "Observe" })], "SetNotServing"],
    ["it is a device", [forPods("a", { volume: blockVolume })], "BlockForPods"],
    ["the set allows nobody", [setEntry("a", { spec: { mounts: [] } })], "NamespaceNotAllowed"],
    ["the set allows others", [forPods("a", { allowedNamespaces: { names: ["x"] } })], "NamespaceNotAllowed"],
    ["the node is not selected", [forPods("a", { nodeSelector: { no: "where" } })], "NodeNotSelected"],
  ] as const) {
    it(`refuses a pod: ${what}`, () => {
      const world = oneNode([...set]);
      world.pods = [pod("team/p")];
      expect([world.settle(), refused(world)]).to.deep.equal([[], [`p ${expected}`]]);
    });
  }

  it("names the field of a set that is not valid", () => {
    const world = oneNode([setEntry("a", { spec: { future: true } as object })]);
    world.pods = [pod("team/p")];
    world.settle();
    const [rejection] = world.plan().rejections ?? [];
    expect(rejection?.message).to.equal(
      "NodeVolumeSet a is not valid: .spec.future: is not understood: correct its name, or upgrade what reads it here",
    );
  });

  it("a volume that is refused holds up no other of its pod", () => {
    const world = oneNode([forPods()]);
    world.pods = [pod("team/p", { volumes: [ours({ set: "no-such" }, "x"), ours({ set: "a" }, "y")] })];
    world.settle();
    expect([podsIn(world), refused(world)]).to.deep.equal([["p y"], ["p SetNotFound"]]);
    world.sets.push(forPods("no-such", { volume: { source: { emptyDir: {} } } }));
    world.settle();
    expect([podsIn(world, "no-such"), refused(world)]).to.deep.equal([["p x"], []]);
  });

  it("refuses a volume that says what nobody knows, with the field", () => {
    const world = oneNode([forPods()]);
    world.pods = [pod("team/p", { volumes: [ours({ set: "a", readonly: "true" })] })];
    world.settle();
    const [rejection] = world.plan().rejections ?? [];
    expect([rejection?.reason, rejection?.message]).to.deep.equal([
      "Invalid",
      ".spec.volumes[v].csi.volumeAttributes[readonly] is not known; there are set, persistentVolumeClaim, subPath, readOnly",
    ]);
  });

  it("a static pod gets what its node has anyway: not a claim, and no set that is there for pods alone", () => {
    const annotations = { "kubernetes.io/config.mirror": "5f0c1d2e", "kubernetes.io/config.hash": "5f0c1d2e" };
    const world = oneNode([forPods("a")]);
    world.pods = [pod("team/s", { annotations, volumes: [ours({ set: "a" }), ours(claimed, "w")] })];
    expect([world.settle(), refused(world)]).to.deep.equal([[], ["s SetNotServing", "s Invalid"]]);
    world.sets = [setEntry("a", { spec: team })];
    world.settle();
    expect([podsIn(world), refused(world)]).to.deep.equal([["s v"], ["s Invalid"]]);
  });

  it("a volume whose intent would have the name of another's is refused: names are short, and can be found", () => {
    const world = oneNode([forPods()]);
    world.pods = [pod("team/p")];
    world.settle();
    world.change(world.intent("share").metadata.name, ({ spec }) => {
      spec.source = { hostPath: { path: "/data/another" } };
    });
    world.pods.push(pod("team/q"));
    expect([world.settle(), podsIn(world), refused(world)]).to.deep.equal([[], ["p v"], ["q Conflict"]]);
    world.sets = [setEntry("a", { spec: team })];
    expect([world.settle(), mountsOf(world)]).to.deep.equal([[], []]);
    expect(world.setsOnNode().get("a")?.obstacle?.reason).to.equal("Invalid");
  });

  it("pods stay on a node that is cordoned or not selected any more, and come to a cordoned one", () => {
    const world = oneNode([forPods("a", { drainPolicy: "Release" })]);
    world.node = node("n1", { unschedulable: true });
    world.pods = [pod("team/p")];
    expect(world.settle()).to.deep.equal(["create share"]);
    world.sets = [forPods("a", { nodeSelector: { no: "where" } })];
    world.pods.push(pod("team/q"));
    expect([world.settle(), refused(world)]).to.deep.equal([[], ["q NodeNotSelected"]]);
  });

  it("a namespace is allowed by its name or its labels as they are now; who loses that leaves the list", () => {
    const selector = {
      matchLabels: { team: "a" },
      matchExpressions: [{ key: "env", operator: "NotIn", values: ["dev"] }],
    };
    const world = oneNode([forPods("a", { allowedNamespaces: { names: ["team"], selector } as object })]);
    world.pods = [pod("team/p"), pod("other/q", { created: 1 }), pod("third/r", { created: 2 })];
    world.namespaces = { other: { team: "a" }, third: { team: "a", env: "dev" } };
    world.settle();
    expect([podsIn(world), refused(world)]).to.deep.equal([["p v", "q v"], ["r NamespaceNotAllowed"]]);
    world.namespaces = { other: { team: "b" }, third: { team: "a" } };
    world.settle();
    expect([podsIn(world), refused(world)]).to.deep.equal([["p v", "r v"], ["q NamespaceNotAllowed"]]);
  });

  it("two sets of one volume share the intent if they want the same; else the newer one's pods wait", () => {
    const world = oneNode([forPods("a"), forPods("b", {}, { created: 1 })]);
    world.pods = [pod("team/p"), pod("team/q", { created: 1, volumes: [ours({ set: "b" })] })];
    expect(world.settle()).to.deep.equal(["create share"]);
    expect(podsIn(world)).to.deep.equal(["p v", "q v"]);
    const other = oneNode([forPods("a"), forPods("b", { adopt: "IfSame" }, { created: 1 })]);
    other.pods = world.pods;
    other.settle();
    expect([podsIn(other), refused(other)]).to.deep.equal([["p v"], ["q Conflict"]]);
  });

  it("sets that are in each other's way by a path have their pods all the same", () => {
    const path = [{ name: "m", path: "/mnt/nodevolume/x" }];
    const others = { source: { hostPath: { path: "/data/other" } } };
    const world = oneNode([
      setEntry("a", { spec: { ...team, mounts: path } }),
      setEntry("b", { spec: { ...team, mounts: path, volume: others } }),
    ]);
    world.pods = [pod("team/p"), pod("team/q", { volumes: [ours({ set: "b" })] })];
    world.settle();
    expect([mountsOf(world), podsIn(world), podsIn(world, "other")]).to.deep.equal([[], ["p v"], ["q v"]]);
  });

  const both = forPods("a", { allowedNamespaces: { names: ["team", "other"] } });
  const podsOf = (namespace: string, count: number, more: object = {}) =>
    Array.from({ length: count }, (_, i) => pod(`${namespace}/${namespace}${i}`, { created: i + 1, ...more }));

  it("256 pods fit; the newest waits, and a newcomer displaces nobody", () => {
    const world = oneNode([both]);
    const many = [...podsOf("team", 128), ...podsOf("other", 128)];
    world.pods = [...many, pod("team/last", { created: 1_000 })];
    world.settle();
    expect([podsIn(world).length, refused(world)]).to.deep.equal([256, ["last IntentTooLarge"]]);
    world.pods = [...many, pod("team/older", { created: 0 })];
    expect([world.settle(), refused(world)]).to.deep.equal([[], ["older IntentTooLarge"]]);
  });

  it("one namespace leaves a quarter of a set's volume to the others, in entries and in length", () => {
    const world = oneNode([both]);
    world.pods = [...podsOf("team", 200), ...podsOf("other", 64, { created: 1_000 })];
    world.settle();
    expect(podsIn(world).filter((name) => name.startsWith("other")).length).to.equal(64);
    expect(refused(world)).to.have.length(8).and.to.include("team199 IntentTooLarge");
    const long = (i: number) => ours({ set: "a", subPath: "x".repeat(500) }, `v${i}`);
    const large = oneNode([both]);
    const volumes = Array.from({ length: 50 }, (_, i) => long(i));
    large.pods = podsOf("team", 4, { volumes });
    large.settle();
    expect(JSON.stringify(large.intent("share").spec.pods).length).to.be.within(46_000, 50_000);
  });
});
