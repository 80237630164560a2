// Rows of the acceptance table about attaching, between nodes: what kubelet and the attach/detach controller do, and
// what we do.
import { expect } from "chai";
import { slowSuite } from "../../hack/lib/lanes/slow.ts";
import { reportReady } from "../../hack/lib/pretend-node/object.ts";
import { orderFaults } from "../drivers/lib/faults.ts";
import { ClaimStories } from "../lib/csi/csi-claims.ts";
import { type Stories, type StoryNode, startStories } from "../lib/csi/csi-stories.ts";

type FourNodes = [StoryNode, StoryNode, StoryNode, StoryNode];

slowSuite("acceptance: volumes between nodes", () => {
  let stories: Stories;
  let on: ClaimStories;
  let [one, two, dying, leaving] = [] as unknown as FourNodes;

  before(async function () {
    stories = await startStories(this, { nodes: ["node-1", "node-2", "dying", "leaving"] });
    on = new ClaimStories(stories);
    [one, two, dying, leaving] = stories.nodes as unknown as FourNodes;
  });
  afterEach(() => {
    if (stories !== undefined) orderFaults(stories.world.storage.control, []);
  });

  const order = (...rules: Parameters<typeof orderFaults>[1]) => orderFaults(stories.world.storage.control, rules);

  it("row 1: nothing is called on the node before the volume is attached, and no attempt is spent", async () => {
    const claim = await on.claim("row-1");
    order({ id: "1", rpc: "ControllerPublishVolume", volume: claim.handle, fault: { kind: "hold", when: "before" } });
    await on.use("row-1", claim, one.name);
    await on.waits("row-1", one.name, "WaitingForAttach");
    await on.called(claim, "ControllerPublishVolume");
    expect(on.calls(claim, one).filter((rpc) => rpc.startsWith("Node"))).to.deep.equal([]);
    expect(on.intent("row-1", one.name)?.status?.waiting?.attempts ?? 0).to.equal(0);
    expect(on.intent("row-1", one.name)?.status?.inUse).not.to.equal(true);
    order();
    await stories.objects.ready("row-1", 1, 60_000);
    const effects = on.effects(claim);
    expect(effects.indexOf("attached")).to.be.lessThan(effects.indexOf("staged"));
    await on.end(["row-1"], claim);
  });

  it("row 6: the second node waits, is told who has it, and gets it when the first has unmounted and is detached", async () => {
    const claim = await on.claim("row-6");
    const path = await on.used("row-6-a", claim, one.name);
    await one.host.run("sh", "-c", `echo kept > ${path}/word`);
    await on.use("row-6-b", claim, two.name);
    // kubelet: the event Multi-Attach error, once, without a name. Here the object says who, where and since when.
    const message = await on.waits("row-6-b", two.name, "VolumeHeldElsewhere");
    expect(message).to.match(/^node node-1 has the volume .* since 20\d\d-/);
    const { on: whom } = on.intent("row-6-b", two.name)?.status?.waiting ?? {};
    expect(whom).to.include({ kind: "NodeVolumeIntent", node: "node-1" });
    expect(await on.attachedTo(claim)).to.deep.equal(["node-1"]);
    await stories.remove("row-6-a");
    await stories.objects.ready("row-6-b", 1, 60_000);
    expect(await two.host.run("cat", "/mnt/nodevolume/row-6-b/word")).to.equal("kept\n");
    const effects = on.effects(claim).filter((what) => /tached|staged|published/.test(what));
    const [first, second] = [effects.indexOf("unpublished"), effects.lastIndexOf("attached")];
    expect(effects.slice(first, second + 1)).to.deep.equal(["unpublished", "unstaged", "detached", "attached"]);
    await on.end(["row-6-b"], claim);
  });

  it("row 15: on a node that lives nothing is detached while the unmount fails, however often", async () => {
    const claim = await on.claim("row-15");
    await on.used("row-15-a", claim, one.name);
    const fault = { kind: "code", when: "before", code: "INTERNAL", message: "the array is ill" } as const;
    order({ id: "15", rpc: "NodeUnstageVolume", volume: claim.handle, fault });
    await on.leave("row-15-a");
    await on.use("row-15-b", claim, two.name);
    await on.called(claim, "NodeUnstageVolume", 3);
    await on.waits("row-15-b", two.name, "VolumeHeldElsewhere");
    const message = await on.waits("row-15-a", one.name, "DriverFailed");
    expect(message).to.include("the array is ill");
    expect(await on.attachedTo(claim)).to.deep.equal(["node-1"]);
    expect((await on.attachmentsOf(claim))[0]?.metadata).not.to.have.property("deletionTimestamp");
    expect(on.effects(claim)).not.to.include("detached");
    order();
    await stories.objects.ready("row-15-b", 1, 60_000);
    await on.end(["row-15-b"], claim);
  });

  it("rows 13 and 14: a dead node keeps its volume, until the out-of-service taint says that it is off", async () => {
    const claim = await on.claim("row-14");
    await on.used("row-14-a", claim, dying.name);
    dying.agent.kill("SIGKILL");
    await dying.agent.ended;
    const { cluster, objects } = stories.world;
    await reportReady(cluster.admin, dying.name, "", false);
    await on.leave("row-14-a");
    await on.use("row-14-b", claim, two.name);
    // kubelet: after 6 minutes of NotReady it is detached by force. Here no time that passes is a proof.
    await on.waits("row-14-b", two.name, "VolumeHeldElsewhere");
    expect(await on.attachedTo(claim)).to.deep.equal(["dying"]);
    // An administrator turns the machine off, and says so: what its kernel had is gone.
    for (const line of (await dying.host.mounts()).filter((text) => text.includes("/dev/loop")).reverse()) {
      await dying.host.run("umount", line.split(" ")[4] ?? "");
    }
    const taint = { key: "node.kubernetes.io/out-of-service", value: "nodeshutdown", effect: "NoExecute" };
    await objects.patch(`/api/v1/nodes/${dying.name}`, { spec: { taints: [taint] } });
    await stories.objects.ready("row-14-b", 1, 60_000);
    expect(await on.attachedTo(claim)).to.deep.equal(["node-2"]);
    await on.end(["row-14-b"], claim);
  });

  it("row 16: a deleted Node keeps its volume, and its next one gives it back", async () => {
    const claim = await on.claim("row-16");
    await on.used("row-16-a", claim, leaving.name);
    leaving.agent.kill("SIGKILL");
    await leaving.agent.ended;
    await stories.world.objects.remove(`/api/v1/nodes/${leaving.name}`);
    await on.use("row-16-b", claim, two.name);
    // kubelet: what was last reported in use is honoured, and 6 minutes later detached by force.
    await on.waits("row-16-b", two.name, "VolumeHeldElsewhere");
    await on.leave("row-16-a");
    await stories.objects.until("the set to be leaving", 30_000, () => {
      return stories.objects.sets.get("row-16-a")?.metadata.deletionTimestamp !== undefined;
    });
    expect(await on.attachedTo(claim)).to.deep.equal(["leaving"]);
    expect(await leaving.mountsAt("/mnt/nodevolume/row-16-a")).to.have.lengthOf(1);
    expect(on.effects(claim)).not.to.include("detached");

    await leaving.register();
    await leaving.restartAgent();
    await stories.objects.ready("row-16-b", 1, 60_000);
    expect(await on.attachedTo(claim)).to.deep.equal(["node-2"]);
    expect(await leaving.mountsAt("/mnt/nodevolume/row-16-a")).to.deep.equal([]);
    await on.end(["row-16-b"], claim);
  });

  it("row 9: several nodes have a volume for many at once, and one that leaves disturbs none", async () => {
    const wish = { accessModes: ["ReadWriteMany"], volumeMode: "Block" } as const;
    const claim = await on.claim("row-9", wish);
    await on.use("row-9-a", claim, one.name, { volumeMode: "Block" });
    await on.use("row-9-b", claim, two.name, { volumeMode: "Block" });
    for (const user of ["row-9-a", "row-9-b"]) await stories.objects.ready(user, 1, 60_000);
    expect(await on.attachedTo(claim)).to.deep.equal(["node-1", "node-2"]);
    const mounts = await two.mountsAt("/mnt/nodevolume/row-9-b");
    const calls = on.calls(claim, two);
    await stories.remove("row-9-a");
    expect(await on.attachedTo(claim)).to.deep.equal(["node-2"]);
    expect(await two.mountsAt("/mnt/nodevolume/row-9-b")).to.deep.equal(mounts);
    expect(on.calls(claim, two)).to.deep.equal(calls);
    await on.end(["row-9-b"], claim);
  });
});
