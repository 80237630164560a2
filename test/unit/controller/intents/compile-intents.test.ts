import { expect } from "chai";
import { label } from "../../../../src/api/names.ts";
import { node, setEntry, settledStatus } from "../objects.ts";
import { mountsOf, oneNode } from "../one-node.ts";

const share = { source: { hostPath: { path: "/data/share" } } };
const other = { source: { hostPath: { path: "/data/other" } } };
const at = (...paths: string[]) => paths.map((path, i) => ({ name: `m${i}`, path: `/mnt/nodevolume/${path}` }));

describe("compileNode and diffIntents: the life of a set on a node", () => {
  it("a new set gets an intent, granted, labelled and held by a finalizer", () => {
    const world = oneNode([setEntry("a")]);
    expect(world.settle()).to.deep.equal(["create share"]);
    const { metadata, spec } = world.intent("share");
    expect(metadata.labels).to.deep.equal({
      [label.node]: "n1",
      [label.type]: "hostPath",
      [label.set]: "a",
      "set.nodevolume.dev/a": "",
    });
    expect(metadata.finalizers).to.deep.equal(["nodevolume.dev/in-use"]);
    expect(spec).to.deep.equal({
      nodeName: "n1",
      nodeUID: "uid-n1",
      volumeName: "share",
      mode: "Manage",
      suspend: false,
      source: share.source,
      volumeMode: "Filesystem",
      mounts: [
        {
          name: "a.host",
          requester: { kind: "NodeVolumeSet", name: "a", uid: "uid-a" },
          path: "/mnt/nodevolume/a",
          readOnly: false,
        },
      ],
      unmountPolicy: { max: "Normal", timeoutSeconds: 90 },
      deletionPolicy: "Unmount",
      adopt: "Never",
      nodeLossPolicy: { type: "Never" },
      grant: { id: "grant-1" },
    });
  });

  it("nothing is written for a set that has no finalizer yet", () => {
    const world = oneNode([setEntry("a", { finalizers: [] })]);
    expect(world.settle()).to.deep.equal([]);
    world.sets = [setEntry("a")];
    expect(world.settle()).to.deep.equal(["create share"]);
  });

  it("a set without mounts has no intent, and gives back what it had", () => {
    const world = oneNode([setEntry("a", { spec: { mounts: [] } })]);
    expect(world.settle()).to.deep.equal([]);
    world.sets = [setEntry("a")];
    world.settle();
    world.sets = [setEntry("a", { spec: { mounts: [] } })];
    expect(world.settle()).to.deep.equal(["delete share"]);
  });

  it("an observing set has no grant; when it manages, it gets one, and keeps it", () => {
    const world = oneNode([setEntry("a", { spec: { mode: "Observe" } })]);
    world.settle();
    expect(world.intent("share").spec.grant).to.equal(undefined);
    world.sets = [setEntry("a")];
    expect(world.settle()).to.deep.equal(["patch share"]);
    expect(world.intent("share").spec).to.deep.include({ mode: "Manage", grant: { id: "grant-1" } });
    world.sets = [setEntry("a", { spec: { suspend: true } })];
    world.settle();
    expect(world.intent("share").spec.grant).to.deep.equal({ id: "grant-1" });
  });

  it("options and paths change the same intent, a source makes another: new before old", () => {
    const world = oneNode([setEntry("a")]);
    world.settle();
    world.sets = [setEntry("a", { spec: { mounts: at("elsewhere") } })];
    expect(world.settle()).to.deep.equal(["patch share"]);
    world.sets = [setEntry("a", { spec: { mounts: at("elsewhere"), volume: other } })];
    expect(world.pass()).to.deep.equal(["create other", "delete share"]);
    expect(world.pass()).to.deep.equal([]);
  });

  it("what is on its way waits for the rollout, what is new does not", () => {
    const world = oneNode([setEntry("a")]);
    const no = () => false;
    expect(world.settle(no)).to.deep.equal(["create share"]);
    world.sets = [setEntry("a", { spec: { mounts: at("elsewhere") } })];
    expect(world.settle(no)).to.deep.equal([]);
    expect(world.settle(), "once it is admitted").to.deep.equal(["patch share"]);
  });

  it("suspend and a re-created Node do not wait for the rollout", () => {
    const world = oneNode([setEntry("a")]);
    world.settle();
    const no = () => false;
    world.sets = [setEntry("a", { spec: { suspend: true, mounts: at("elsewhere") } })];
    expect(world.settle(no)).to.deep.equal(["patch share"]);
    expect(world.intent("share").spec).to.deep.include({ suspend: true });
    expect(mountsOf(world)).to.deep.equal(["a.host /mnt/nodevolume/a"]);
    world.sets = [setEntry("a")];
    world.node = node("n1", { uid: "another", labels: { [label.suspend]: "maintenance" } });
    expect(world.settle(no)).to.deep.equal(["patch share"]);
    expect(world.intent("share").spec).to.deep.include({ suspend: true, nodeUID: "another" });
    world.node = node("n1", { uid: "another" });
    world.settle(no);
    expect(world.intent("share").spec.suspend).to.equal(false);
  });

  it("an intent that is being deleted follows only the UID of its Node, without which its agent may not write", () => {
    const world = oneNode([setEntry("a")]);
    world.settle();
    world.sets = [setEntry("a", { deleted: true })];
    world.settle();
    world.node = node("n1", { uid: "another", labels: { [label.suspend]: "" } });
    expect(world.settle()).to.deep.equal(["patch share"]);
    expect(world.intent("share").spec).to.deep.include({ nodeUID: "another", suspend: false });
  });

  it("a volume that is wanted again while it is being released waits for the old one to go", () => {
    const world = oneNode([setEntry("a")]);
    world.settle();
    world.sets = [setEntry("a", { spec: { nodeSelector: { on: "yes" } } })];
    expect(world.settle()).to.deep.equal(["delete share"]);
    world.sets = [setEntry("a")];
    expect(world.settle()).to.deep.equal([]);
    expect(world.setsOnNode().get("a")?.held).to.equal(true);
    world.agent();
    expect(world.settle()).to.deep.equal(["create share"]);
  });

  it("a source that is changed there and back waits as well, and keeps what it has until then", () => {
    const world = oneNode([setEntry("a")]);
    world.settle();
    world.sets = [setEntry("a", { spec: { volume: other } })];
    world.pass();
    world.sets = [setEntry("a")];
    expect(world.settle()).to.deep.equal([]);
    world.agent();
    expect(world.settle()).to.deep.equal(["create share", "delete other"]);
  });

  it("a spec that somebody else changed is put right, and so is a finalizer that was taken off", () => {
    const world = oneNode([setEntry("a")]);
    world.settle();
    const { name } = world.intent("share").metadata;
    world.change(name, (intent) => {
      intent.spec.unmountPolicy = { max: "Lazy", timeoutSeconds: 1 };
      intent.metadata.finalizers = ["somebody/else"];
      intent.metadata.labels = { ...intent.metadata.labels, mine: "kept", "set.nodevolume.dev/ghost": "" };
      intent.status = settledStatus(intent);
    });
    expect(world.settle()).to.deep.equal(["patch share"]);
    const { metadata, spec } = world.intent("share");
    expect(spec.unmountPolicy.max).to.equal("Normal");
    expect(metadata.finalizers).to.deep.equal(["somebody/else", "nodevolume.dev/in-use"]);
    expect(metadata.labels).to.include({ mine: "kept" });
    expect(metadata.labels).not.to.have.property("set.nodevolume.dev/ghost");
  });
});

describe("compileNode: what stays because nobody said that it is no longer wanted", () => {
  const settled = () => {
    const world = oneNode([setEntry("a"), setEntry("b", { spec: { volume: other, mounts: at("b") } })]);
    world.settle();
    world.agent();
    return world;
  };

  it("a Node that is gone", () => {
    const world = settled();
    world.node = undefined;
    expect(world.settle()).to.deep.equal([]);
    expect(world.setsOnNode().get("a")).to.deep.include({ state: "frozen", selected: false });
  });

  it("a set that is gone without its finalizer", () => {
    const world = settled();
    world.sets = [setEntry("b", { spec: { volume: other, mounts: at("b") } })];
    expect(world.settle()).to.deep.equal([]);
  });

  it("a set that is not understood", () => {
    const world = settled();
    world.sets = [setEntry("a", { spec: { futureField: 1 } as object }), ...world.sets.slice(1)];
    expect(world.sets[0]?.invalid).to.contain("futureField");
    expect(world.settle()).to.deep.equal([]);
  });

  it("a set and an intent whose policy of node loss has lost its time, also once the Node is gone for long", () => {
    const world = settled();
    const policy = { type: "AfterTimeout" } as const;
    world.sets = [setEntry("a", { spec: { nodeLossPolicy: policy } }), ...world.sets.slice(1)];
    expect(world.sets[0]?.invalid).to.contain(".spec.nodeLossPolicy.timeoutSeconds");
    world.change(world.intent("share").metadata.name, (intent) => {
      intent.spec.nodeLossPolicy = policy;
    });
    expect(world.settle()).to.deep.equal([]);
    world.node = undefined;
    world.lostForMs = 1e12;
    expect(world.settle()).to.deep.equal([]);
  });

  it("an intent without mounts, which is not ours", () => {
    const world = settled();
    const { name } = world.intent("share").metadata;
    world.change(name, (intent) => {
      intent.spec.mounts = [];
    });
    world.sets = [];
    expect(world.settle()).to.deep.equal([]);
  });

  it("a mount whose path is no longer beneath an allowed prefix; a new one is not written", () => {
    const world = settled();
    world.allowedPrefixes = ["/srv"];
    world.sets = [setEntry("a", { spec: { mounts: [{ name: "host", path: "/mnt/nodevolume/a" }, ...at("new")] } })];
    world.settle();
    expect(mountsOf(world)).to.include("a.host /mnt/nodevolume/a");
    expect(mountsOf(world).join()).not.to.contain("new");
    expect(world.setsOnNode().get("a")?.obstacle).to.deep.include({ reason: "PathNotAllowed" });
  });

  it("but a set that is being deleted has said so, also when it is not understood or the Node is gone", () => {
    const world = settled();
    world.node = undefined;
    world.sets = [setEntry("a", { deleted: true, spec: { futureField: 1 } as object }), ...world.sets.slice(1)];
    expect(world.settle()).to.deep.equal(["delete share"]);
  });

  it("and a Node that is lost for as long as the policy says, or by an administrator's word", () => {
    const world = oneNode([setEntry("a", { spec: { nodeLossPolicy: { type: "AfterTimeout", timeoutSeconds: 300 } } })]);
    world.settle();
    world.node = undefined;
    world.lostForMs = 299_999;
    expect(world.settle()).to.deep.equal([]);
    world.lostForMs = 300_000;
    expect(world.settle()).to.deep.equal(["delete share"]);

    const word = settled();
    word.node = undefined;
    word.change(word.intent("share").metadata.name, (intent) => {
      intent.metadata.annotations = { "nodevolume.dev/release": "me: the machine is scrap" };
    });
    expect(word.settle()).to.deep.equal(["delete share"]);
  });
});
