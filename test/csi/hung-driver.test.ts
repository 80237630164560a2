// One volume of a driver that does not answer, and fifty of another one: none of them waits for it.
import { expect } from "chai";
import type { RunningDriver } from "../../hack/lib/csi/driver.ts";
import { slowSuite } from "../../hack/lib/lanes/slow.ts";
import { orderFaults } from "../drivers/lib/faults.ts";
import { csiCalls, mountable } from "../lib/csi/csi-calls.ts";
import { ClaimStories, type MadeClaim } from "../lib/csi/csi-claims.ts";
import { type Stories, type StoryNode, startStories } from "../lib/csi/csi-stories.ts";
import { endDriver, startHostPath } from "../lib/csi/host-path.ts";

/** So many volumes of the driver that answers. */
const many = 50;

slowSuite("a driver that hangs", () => {
  let stories: Stories;
  let on: ClaimStories;
  let node: StoryNode;
  let other: RunningDriver;
  let claim: MadeClaim;
  const users = Array.from({ length: many }, (_, index) => `beside-${index}`);

  before(async function () {
    stories = await startStories(this, { nodes: ["node-1"] });
    on = new ClaimStories(stories);
    [node] = stories.nodes as [StoryNode];
    other = await startHostPath(stories, node, {});
    claim = await on.claim("hung");
  });
  after(async () => {
    if (other !== undefined) await endDriver(stories, node, other);
  });
  afterEach(() => {
    if (stories !== undefined) orderFaults(stories.world.storage.control, []);
  });

  const hungStatus = () => on.intent("hung", node.name)?.status;
  const saysSo = (rpc: string) =>
    stories.objects.until("the hung volume to say what it waits for", 30_000, () => {
      const { reason, message = "" } = hungStatus()?.waiting ?? {};
      return reason === "NotAnswering" && message.includes(rpc);
    });

  it("is said by its volume, while fifty volumes of another driver are set up and released", async () => {
    const fault = { kind: "hold", when: "before" } as const;
    orderFaults(stories.world.storage.control, [{ id: "hung", rpc: "NodeStageVolume", volume: claim.handle, fault }]);
    await on.use("hung", claim, node.name);
    await on.called(claim, "NodeStageVolume");
    await saysSo("NodeStageVolume");

    const handles = await makeVolumes(other, users);
    const sets = users.map((name, index) => [name, specOf(name, other.name, handles[index] as string)]);
    await stories.applyAll(Object.fromEntries(sets));
    for (const user of users) await stories.objects.ready(user, 1, 60_000);
    for (const user of users) expect(await node.mountsAt(`/mnt/nodevolume/${user}`)).to.have.lengthOf(1);
    await stories.remove(...users);
    const left = (await node.host.mounts()).filter((line) => line.includes("/mnt/nodevolume/beside-"));
    expect(left).to.deep.equal([]);

    // All that time its call was in flight: the same one, and no other.
    await saysSo("NodeStageVolume");
    expect(on.calls(claim).filter((rpc) => rpc === "NodeStageVolume")).to.have.lengthOf(1);
    orderFaults(stories.world.storage.control, []);
    await stories.objects.ready("hung", 1, 60_000);
  });

  it("is waited for by its own volume alone when that is released", async () => {
    const fault = { kind: "hold", when: "before" } as const;
    orderFaults(stories.world.storage.control, [{ id: "end", rpc: "NodeUnstageVolume", volume: claim.handle, fault }]);
    await on.leave("hung");
    await on.called(claim, "NodeUnstageVolume");
    await saysSo("NodeUnstageVolume");
    const [handle] = await makeVolumes(other, ["beside-the-end"]);
    await stories.apply("beside-the-end", specOf("beside-the-end", other.name, handle as string));
    await stories.objects.ready("beside-the-end", 1, 60_000);
    await stories.remove("beside-the-end");
    expect(await on.attachedTo(claim)).to.deep.equal(["node-1"]);
    orderFaults(stories.world.storage.control, []);
    await stories.objects.until("the hung one to be gone", 60_000, () => !stories.objects.sets.has("hung"));
    await on.end([], claim);
  });
});

async function makeVolumes(driver: RunningDriver, names: readonly string[]): Promise<string[]> {
  using csi = csiCalls(driver.outside);
  const handles: string[] = [];
  for (const name of names) {
    const request = { name, capacityRange: { requiredBytes: "1048576" }, volumeCapabilities: [mountable()] };
    const { volume } = await csi.call<{ volume: { volumeId: string } }>("createVolume", request);
    handles.push(volume.volumeId);
  }
  return handles;
}

function specOf(name: string, driver: string, volumeHandle: string): object {
  return {
    nodeSelector: { "kubernetes.io/hostname": "node-1" },
    volume: { source: { csi: { driver, volumeHandle } } },
    mounts: [{ name: "data", path: `/mnt/nodevolume/${name}` }],
  };
}
