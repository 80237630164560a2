// Nodes that nothing is attached to: by a word on the Node, and by the agent's flag (decision 0030).
import { expect } from "chai";
import { loopXfs, type RunningDriver } from "../../hack/lib/csi/driver.ts";
import { slowSuite } from "../../hack/lib/lanes/slow.ts";
import { csiCalls, mountable } from "../lib/csi/csi-calls.ts";
import { ClaimStories, idsOf } from "../lib/csi/csi-claims.ts";
import { needXfsprogs } from "../lib/csi/csi-needs.ts";
import { type Stories, type StoryNode, startStories } from "../lib/csi/csi-stories.ts";
import { endDriver } from "../lib/csi/host-path.ts";

const managed = "volumes.kubernetes.io/controller-managed-attach-detach";
const free = "loop-xfs-free.csi.nodevolume.test";

slowSuite("nodes that nothing is attached to", () => {
  let stories: Stories;
  let on: ClaimStories;
  let node: StoryNode;
  let freeDriver: RunningDriver;

  before(async function () {
    stories = await startStories(this, { nodes: ["node-1"] });
    on = new ClaimStories(stories);
    [node] = stories.nodes as unknown as [StoryNode];
    const xfsprogs = await needXfsprogs(this);
    const { storage } = stories.world;
    const options = { storage, xfsprogs, name: free, flags: ["--no-attach"] };
    freeDriver = await node.startDriver(loopXfs("id-of-free", options));
    await stories.world.objects.csiDriver(free, { attachRequired: false });
  });
  after(async () => {
    if (freeDriver !== undefined) await endDriver(stories, node, freeDriver);
  });

  const annotate = (value: string | null) =>
    stories.world.objects.patch(`/api/v1/nodes/${node.name}`, { metadata: { annotations: { [managed]: value } } });

  /** Another agent in the place of the one that runs. */
  async function restartAgent(...flags: string[]): Promise<void> {
    node.agent.kill("SIGKILL");
    await node.agent.ended;
    node.agent = await node.startAgent(flags);
  }

  /** A set with a volume of the driver that attaches nothing is there, and goes again. */
  async function usesFreeVolume(name: string): Promise<void> {
    using csi = csiCalls(freeDriver.outside);
    const request = { name, volumeCapabilities: [mountable()] };
    const { volume } = await csi.call<{ volume: { volumeId: string } }>("createVolume", request);
    const path = `/mnt/nodevolume/${name}`;
    await stories.apply(name, {
      nodeSelector: { "kubernetes.io/hostname": node.name },
      volume: { source: { csi: { driver: free, volumeHandle: volume.volumeId, fsType: "xfs" } } },
      mounts: [{ name: "m", path }],
    });
    await stories.objects.ready(name, 1, 60_000);
    expect(await node.mountsAt(path)).to.have.lengthOf(1);
    await stories.remove(name);
  }

  it("a Node that says so: a driver that attaches waits with the remedy, another does not, and the word ends it", async () => {
    await annotate("false");
    const claim = await on.claim("said");
    const path = await on.use("said", claim, node.name);
    expect(await on.waits("said", node.name, "AttachNotManaged")).to.include(`${managed} is "false"`);
    await usesFreeVolume("said-free");
    expect(await on.attachmentsOf(claim)).to.deep.equal([]);
    expect(on.calls(claim).filter((rpc) => /Publish|Node/.test(rpc))).to.deep.equal([]);
    await annotate(null);
    await stories.objects.ready("said", 1, 60_000);
    expect(await node.mountsAt(path)).to.have.lengthOf(1);
    await on.end(["said"], claim);
  });

  it("an agent that is told so begins no volume that is attached, and keeps and gives back what it has", async () => {
    const [had, wanted] = [await on.claim("had"), await on.claim("wanted")];
    const path = await on.used("had", had, node.name);
    const mounts = idsOf(await node.mountsAt(path));
    await restartAgent("--controller-attach-detach=false");
    await on.use("wanted", wanted, node.name);
    expect(await on.waits("wanted", node.name, "AttachNotManaged")).to.include("--controller-attach-detach=false");
    expect(on.calls(wanted).filter((rpc) => rpc.startsWith("Node"))).to.deep.equal([]);
    await usesFreeVolume("told-free");
    expect(idsOf(await node.mountsAt(path))).to.deep.equal(mounts);
    await stories.remove("had");
    expect(await on.attachmentsOf(had)).to.deep.equal([]);
    await restartAgent();
    await stories.objects.ready("wanted", 1, 60_000);
    await on.end(["wanted"], had, wanted);
  });
});
