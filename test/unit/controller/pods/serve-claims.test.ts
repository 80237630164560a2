import { expect } from "chai";
import { setEntry } from "../objects.ts";
import { mountsOf, oneNode } from "../one-node.ts";
import { ours, pod } from "./pod-objects.ts";
import { claim, podsIn, refused } from "./pod-worlds.ts";

describe("pods of a claim", () => {
  const csiSet = (name: string, more = {}) =>
    setEntry(name, {
      spec: { volume: { source: { persistentVolumeClaim: { namespace: "team", claimName: "data" } } }, ...more },
    });

  it("a claim needs no set: an intent of its own, in the pod's namespace, granted by whoever attaches", () => {
    const world = oneNode([]);
    world.pods = [
      pod("team/p", { volumes: claim, securityContext: { fsGroup: 7, fsGroupChangePolicy: "OnRootMismatch" } }),
    ];
    expect(world.settle()).to.deep.equal(["create data"]);
    const { metadata, spec } = world.intent("data");
    expect(metadata.labels).to.deep.equal({
      "nodevolume.dev/node": "n1",
      "nodevolume.dev/type": "persistentVolumeClaim",
    });
    expect(spec.source).to.deep.equal({ persistentVolumeClaim: { namespace: "team", claimName: "data" } });
    expect(spec).to.deep.include({ mode: "Manage", volumeName: "data", suspend: false, mounts: [] });
    expect(spec).not.to.have.property("grant");
    expect(spec.pods?.[0]).to.include({ fsGroup: 7, fsGroupChangePolicy: "OnRootMismatch" });
    world.pods = [];
    expect(world.settle()).to.deep.equal(["delete data"]);
  });

  it("one that is not there makes no intent, and what is there stays when it goes", () => {
    const world = oneNode([]);
    world.claims = undefined;
    world.pods = [pod("team/p", { volumes: claim })];
    expect([world.settle(), refused(world)], "while claims are not known").to.deep.equal([[], []]);
    world.claims = false;
    expect([world.settle(), refused(world)]).to.deep.equal([[], ["p ClaimNotFound"]]);
    world.claims = true;
    expect([world.settle(), refused(world)]).to.deep.equal([["create data"], []]);
    for (const gone of [false, undefined]) {
      world.claims = gone;
      expect([world.settle(), podsIn(world, "data")]).to.deep.equal([[], ["p v"]]);
    }
  });

  it("whose volume asks for a group that its pod lacks are said to be of no use, and served all the same", () => {
    const world = oneNode([]);
    world.group = { persistentVolume: "pv-1", gid: 1234 };
    const told = (securityContext: object, containers?: object[]) => {
      const of = containers === undefined ? {} : { containers };
      world.pods = [pod("team/p", { volumes: claim, securityContext, ...of })];
      return world.plan().notices?.map(({ reason, message }) => `${reason} ${message}`);
    };
    const [said] = told({ supplementalGroups: [7], fsGroup: 8, runAsGroup: 9 }) ?? [];
    expect(said).to.match(
      /^PodLacksGroup PersistentVolume pv-1 requires group 1234 .*supplementalGroups of the pod must have 1234$/,
    );
    expect([world.settle(), refused(world)]).to.deep.equal([["create data"], []]);
    for (const has of [{ supplementalGroups: [7, 1234] }, { fsGroup: 1234 }, { runAsGroup: 1234 }]) {
      expect(told(has), JSON.stringify(has)).to.deep.equal([]);
    }
    const use = { name: "c", volumeMounts: [{ name: "v", mountPath: "/x" }] };
    const other = { ...use, name: "d", securityContext: { runAsGroup: 5 } };
    expect(told({ runAsGroup: 1234 }, [use, other]), "one container is of another").to.have.length(1);
    world.group = undefined;
    expect(told({})).to.deep.equal([]);
  });

  it("claims of the same name in two namespaces are two volumes", () => {
    const world = oneNode([]);
    world.pods = [pod("team/p", { volumes: claim }), pod("other/q", { volumes: claim })];
    expect(world.settle()).to.deep.equal(["create data", "create data"]);
    expect(world.intents().map(({ spec }) => spec.pods?.length)).to.deep.equal([1, 1]);
  });

  it("shares the intent of a set that has the claim, on its terms, and outlives it", () => {
    const nodeLossPolicy = { type: "AfterTimeout", timeoutSeconds: 420 };
    const world = oneNode([csiSet("s", { nodeLossPolicy })]);
    world.pods = [pod("team/p", { volumes: claim })];
    expect(world.settle()).to.deep.equal(["create data"]);
    expect([podsIn(world, "data"), mountsOf(world)]).to.deep.equal([["p v"], ["s.host /mnt/nodevolume/s"]]);
    world.sets = [];
    expect(world.settle()).to.deep.equal([]); // nobody has said that the set's mounts are not wanted any more
    world.sets = [csiSet("s", { mounts: [] })];
    world.settle();
    expect([podsIn(world, "data"), mountsOf(world)]).to.deep.equal([["p v"], []]);
    expect(world.intent("data").spec.nodeLossPolicy).to.deep.equal(nodeLossPolicy);
  });

  it("the group of a pod is for the claims of its own namespace: what a set shares with others is not the first one's to take", () => {
    const world = oneNode([csiSet("s", { allowedNamespaces: { names: ["team", "other"] } })]);
    const options = { volumes: [ours({ set: "s" })], securityContext: { fsGroup: 7 } };
    world.pods = [pod("other/p", options), pod("team/q", { ...options, created: 1 })];
    world.settle();
    const groups = world.intent("data").spec.pods?.map(({ name, fsGroup }) => [name, fsGroup]);
    expect(groups).to.deep.equal([
      ["p", undefined],
      ["q", 7],
    ]);
  });

  it("waits for a set that only observes the claim", () => {
    const world = oneNode([csiSet("s", { mode: "Observe" })]);
    world.pods = [pod("team/p", { volumes: claim })];
    world.settle();
    expect([podsIn(world, "data"), refused(world)]).to.deep.equal([[], ["p SetNotServing"]]);
  });

  it("a ReadWriteOncePod volume is for the oldest pod, or the mount that it has", () => {
    const world = oneNode([]);
    world.onePod = true;
    world.pods = [pod("team/b", { volumes: claim, created: 2 }), pod("team/a", { volumes: claim, created: 1 })];
    world.settle();
    expect([podsIn(world, "data"), refused(world)]).to.deep.equal([["a v"], ["b AccessModeMismatch"]]);
    world.pods = [pod("team/b", { volumes: claim, created: 2 })];
    world.settle();
    expect([podsIn(world, "data"), refused(world)]).to.deep.equal([["b v"], []]);
  });

  it("what kubelet manages is nobody's here: an intent of mode Observe with spec.observed stays as it is", () => {
    const world = oneNode([]);
    world.pods = [pod("team/p", { volumes: claim })];
    world.settle();
    world.change(world.intent("data").metadata.name, (i) => {
      Object.assign(i.spec, { mode: "Observe", observed: { plugin: "kubernetes.io/csi", volumeName: "pv" } });
    });
    world.pods = [];
    expect(world.settle()).to.deep.equal([]);
  });
});
