import { expect } from "chai";
import { label } from "../../../../src/api/names.ts";
import { node, setEntry } from "../objects.ts";
import { mountsOf, oneNode } from "../one-node.ts";

const other = { source: { hostPath: { path: "/data/other" } } };
const at = (...paths: string[]) => paths.map((path, i) => ({ name: `m${i}`, path: `/mnt/nodevolume/${path}` }));

describe("compileNode: sets that share a volume", () => {
  const shared = () => oneNode([setEntry("b", { created: 2 }), setEntry("a", { created: 5 })]);

  it("have one intent with the mounts of both, labelled with the older one", () => {
    const world = shared();
    expect(world.settle()).to.deep.equal(["create share"]);
    expect(mountsOf(world)).to.deep.equal(["a.host /mnt/nodevolume/a", "b.host /mnt/nodevolume/b"]);
    expect(world.intent("share").metadata.labels).to.include({
      [label.set]: "b",
      "set.nodevolume.dev/a": "",
      "set.nodevolume.dev/b": "",
    });
  });

  it("each leaves with its own mounts; its label stays until the node has let them go", () => {
    const world = shared();
    world.settle();
    world.agent();
    world.sets = [setEntry("b", { created: 2, deleted: true }), setEntry("a", { created: 5 })];
    expect(world.settle()).to.deep.equal(["patch share"]);
    expect(mountsOf(world)).to.deep.equal(["a.host /mnt/nodevolume/a"]);
    expect(world.intent("share").metadata.labels).to.include({ [label.set]: "a", "set.nodevolume.dev/b": "" });
    world.change(world.intent("share").metadata.name, (intent) => {
      intent.status.observedGeneration = intent.metadata.generation ?? 0;
    });
    // Taken in, and the mount of b is still being removed.
    expect(world.settle()).to.deep.equal([]);
    world.agent();
    expect(world.settle()).to.deep.equal(["patch share"]);
    expect(world.intent("share").metadata.labels).not.to.have.property("set.nodevolume.dev/b");
  });

  it("the label goes at once where a proof says that the node holds nothing", () => {
    const world = shared();
    world.settle();
    world.agent();
    world.node = node("n1", { bootID: "another-boot" });
    world.silentForMs = 0;
    world.sets = [setEntry("b", { created: 2, deleted: true }), setEntry("a", { created: 5 })];
    world.settle();
    expect(world.intent("share").metadata.labels).not.to.have.property("set.nodevolume.dev/b");
  });

  it("the last one takes the intent with it", () => {
    const world = shared();
    world.settle();
    world.agent();
    world.sets = [setEntry("b", { created: 2, deleted: true }), setEntry("a", { created: 5, deleted: true })];
    expect(world.settle()).to.deep.equal(["delete share"]);
  });

  it("settings change when both want it and both may", () => {
    const world = shared();
    world.settle();
    const lazy = { unmountPolicy: { max: "Lazy", timeoutSeconds: 5 } } as const;
    world.sets = [setEntry("b", { created: 2, spec: lazy }), setEntry("a", { created: 5, spec: lazy })];
    expect(world.settle((set) => set === "a")).to.deep.equal([]);
    expect(world.settle()).to.deep.equal(["patch share"]);
    expect(world.intent("share").spec.unmountPolicy.max).to.equal("Lazy");
  });

  it("a newcomer that wants the coming settings waits for them", () => {
    const world = oneNode([setEntry("a")]);
    world.settle();
    const lazy = { unmountPolicy: { max: "Lazy", timeoutSeconds: 5 } } as const;
    world.sets = [setEntry("a", { spec: lazy }), setEntry("b", { spec: lazy })];
    expect(world.settle(() => false)).to.deep.equal([]);
    world.settle((set) => set === "a");
    expect(mountsOf(world)).to.have.length(2);
  });

  it("too many mounts: those who are in stay, the newcomer is told", () => {
    const many = (name: string) =>
      setEntry(name, {
        created: name.length,
        spec: {
          mounts: Array.from({ length: 16 }, (_, i) => ({ name: `m${i}`, path: `/mnt/nodevolume/${name}/${i}` })),
        },
      });
    const world = oneNode(["a", "bb", "ccc", "dddd"].map(many));
    world.settle();
    expect(mountsOf(world)).to.have.length(64);
    world.sets = [...world.sets, setEntry("0-first-by-name")];
    expect(world.settle()).to.deep.equal([]);
    expect(world.setsOnNode().get("0-first-by-name")?.obstacle?.reason).to.equal("IntentTooLarge");
  });
});

describe("compileNode: removal", () => {
  it("goes by the policies of the set as it is now, although the rollout has not come by", () => {
    const world = oneNode([setEntry("a", { spec: { volume: other } })]);
    world.settle();
    world.sets = [setEntry("a", { deleted: true, spec: { volume: other, deletionPolicy: "Retain" } })];
    expect(world.settle()).to.deep.equal(["patch other", "delete other"]);
    expect(world.intent("other").spec.deletionPolicy).to.equal("Retain");
  });

  it("retains only when the set is deleted, not when it moves on", () => {
    const retain = { deletionPolicy: "Retain" } as const;
    const world = oneNode([setEntry("a", { spec: retain })]);
    world.settle();
    expect(world.intent("share").spec.deletionPolicy).to.equal("Retain");
    world.sets = [setEntry("a", { spec: { ...retain, volume: other } })];
    expect(world.settle()).to.deep.equal(["create other", "patch share", "delete share"]);
    expect(world.intent("share").spec.deletionPolicy).to.equal("Unmount");
  });

  it("NoExecute gives back, NoSchedule keeps what is there and brings nothing new", () => {
    const world = oneNode([setEntry("a")]);
    const tainted = (effect: string) => node("n1", { taints: [{ key: "k", effect }] });
    world.node = tainted("NoSchedule");
    expect(world.settle()).to.deep.equal([]);
    world.node = node("n1");
    world.settle();
    world.node = tainted("NoSchedule");
    world.sets = [setEntry("a", { spec: { mounts: at("elsewhere") } })];
    expect(world.settle()).to.deep.equal(["patch share"]);
    world.sets = [setEntry("a", { spec: { volume: other, mounts: at("elsewhere") } })];
    expect(world.settle()).to.deep.equal([]);
    world.node = tainted("NoExecute");
    expect(world.settle()).to.deep.equal(["delete share"]);
  });
});

describe("compileNode: the size of a volume that its driver grows", () => {
  const source = { flexVolume: { driver: "vendor/disk" } };
  const sized = (name: string, capacity?: string, created = 2) =>
    setEntry(name, { created, spec: { volume: { source }, ...(capacity !== undefined && { capacity }) } });

  it("is in the intent in bytes, follows the set, and goes with it", () => {
    const world = oneNode([sized("a", "10Gi")]);
    world.settle();
    expect(world.intent("disk").spec.capacityBytes).to.equal("10737418240");
    world.agent();
    world.sets = [sized("a", "20Gi")];
    expect(world.settle()).to.deep.equal(["patch disk"]);
    expect(world.intent("disk").spec.capacityBytes).to.equal("21474836480");
    world.sets = [sized("a")];
    expect(world.settle()).to.deep.equal(["patch disk"]);
    expect(world.intent("disk").spec).not.to.have.property("capacityBytes");
  });

  it("is a setting that the sets of a volume must agree on", () => {
    const world = oneNode([sized("a", "10Gi")]);
    world.settle();
    world.sets = [sized("a", "10Gi"), sized("b", "20Gi", 5)];
    expect(world.settle()).to.deep.equal([]);
    expect(world.intent("disk").spec.capacityBytes).to.equal("10737418240");
    expect(mountsOf(world)).to.deep.equal(["a.host /mnt/nodevolume/a"]);
  });
});
