// Rows of the acceptance table about devices, access modes and limits: what kubelet does, and what we do.
import { expect } from "chai";
import { slowSuite } from "../../hack/lib/lanes/slow.ts";
import { orderFaults } from "../drivers/lib/faults.ts";
import { ClaimStories, idsOf } from "../lib/csi/csi-claims.ts";
import { type Stories, type StoryNode, startStories } from "../lib/csi/csi-stories.ts";

slowSuite("acceptance: devices, access modes, limits", () => {
  let stories: Stories;
  let on: ClaimStories;
  let node: StoryNode;

  before(async function () {
    stories = await startStories(this, { nodes: ["node-1"] });
    on = new ClaimStories(stories);
    [node] = stories.nodes as [StoryNode];
  });
  afterEach(() => {
    if (stories !== undefined) orderFaults(stories.world.storage.control, []);
  });

  const kindOf = async (path: string) => (await node.host.run("stat", "-L", "-c", "%F", path)).trim();

  it("row 23: a device is there for its users, outlives the agent, waits for who has it open, and goes whole", async () => {
    const block = { volumeMode: "Block" } as const;
    const claim = await on.claim("row-23", block);
    const first = await on.used("row-23-a", claim, node.name, block);
    const second = await on.used("row-23-b", claim, node.name, block);
    expect(await kindOf(first)).to.equal("block special file");
    await node.host.run("sh", "-c", `printf kept | dd of=${first} conv=notrunc,fsync 2>/dev/null`);
    expect(await node.host.run("dd", `if=${second}`, "bs=4", "count=1", "status=none")).to.equal("kept");
    const mounts = idsOf(await node.mountsAt(second));

    await node.restartAgent();
    await stories.remove("row-23-a");
    expect(await node.mountsAt(first)).to.deep.equal([]);
    expect(idsOf(await node.mountsAt(second))).to.deep.equal(mounts);
    expect(on.effects(claim)).not.to.include("unstaged");
    expect(await node.host.run("dd", `if=${second}`, "bs=4", "count=1", "status=none")).to.equal("kept");

    const opener = await node.host.run("sh", "-c", `(exec 3<${second}; exec sleep 600) >/dev/null 2>&1 & echo $!`);
    await stories.objects.until("the device to be open", 10_000, async () => {
      const name = await node.host.run("readlink", `/proc/${opener.trim()}/fd/3`).catch(() => "");
      return name.trim() === second;
    });
    await on.leave("row-23-b");
    expect(await on.waits("row-23-b", node.name, "TargetBusy")).to.include(opener.trim());
    expect(await on.attachedTo(claim)).to.deep.equal(["node-1"]);
    expect(on.effects(claim)).not.to.include("unstaged");
    await node.host.run("kill", opener.trim());
    await stories.remove("row-23-b");
    expect(on.effects(claim).slice(-2)).to.deep.equal(["unstaged", "detached"]);
    expect(stories.world.storage.loops()).to.deep.equal([]);
    await on.end([], claim);
  });

  it("row 8: a second user of a volume for one waits until the first is gone", async () => {
    const claim = await on.claim("row-8", { accessModes: ["ReadWriteOncePod"] });
    const path = await on.used("row-8-a", claim, node.name);
    const mounts = idsOf(await node.mountsAt(path));
    const second = await on.use("row-8-b", claim, node.name);
    await stories.objects.until("the second to be told why it waits", 30_000, () => {
      const ready = stories.objects.sets.get("row-8-b")?.status?.conditions?.find(({ type }) => type === "Ready");
      return ready?.status === "False" && ready.message.includes("ReadWriteOncePod");
    });
    expect(await node.mountsAt(second)).to.deep.equal([]);
    expect(idsOf(await node.mountsAt(path))).to.deep.equal(mounts);
    expect(on.calls(claim).filter((rpc) => rpc === "NodePublishVolume")).to.have.lengthOf(1);
    await stories.remove("row-8-a");
    await stories.objects.ready("row-8-b", 1, 60_000);
    expect(await node.mountsAt(path)).to.deep.equal([]);
    expect(await node.mountsAt(second)).to.have.lengthOf(1);
    await on.end(["row-8-b"], claim);
  });

  it("row 25: a driver that has no room says so in the object, and attaches when it has", async () => {
    const claim = await on.claim("row-25");
    const fault = { kind: "code", when: "before", code: "RESOURCE_EXHAUSTED", message: "no slot is free" } as const;
    orderFaults(stories.world.storage.control, [
      { id: "25", rpc: "ControllerPublishVolume", volume: claim.handle, fault },
    ]);
    await on.use("row-25", claim, node.name);
    expect(await on.waits("row-25", node.name, "AttachLimitReached")).to.include("no slot is free");
    expect(on.calls(claim).filter((rpc) => rpc.startsWith("Node"))).to.deep.equal([]);
    const intent = on.intent("row-25", node.name)?.metadata.name ?? "";
    await on.called(claim, "ControllerPublishVolume", 3);
    for (const told of await on.bothTold(claim, intent, "FailedAttachVolume")) {
      expect(told.join()).to.match(/cannot be attached to node .*: .*no slot is free.* \(1\)$/);
    }
    orderFaults(stories.world.storage.control, []);
    await stories.objects.ready("row-25", 1, 60_000);
    for (const told of await on.bothTold(claim, intent, "SuccessfulAttachVolume")) expect(told).to.have.lengthOf(1);
    await stories.remove("row-25");
    for (const told of await on.bothTold(claim, intent, "SuccessfulDetachVolume")) expect(told).to.have.lengthOf(1);
    await on.end(["row-25"], claim);
  });
});
