// Rows of the acceptance table about expansion: what kubelet does, and what we do.
import { expect } from "chai";
import { slowSuite } from "../../hack/lib/lanes/slow.ts";
import { orderFaults } from "../drivers/lib/faults.ts";
import { ClaimStories, claims, idsOf, type MadeClaim } from "../lib/csi/csi-claims.ts";
import { type Stories, type StoryNode, startStories } from "../lib/csi/csi-stories.ts";

interface ClaimStatus {
  readonly capacity?: { readonly storage?: string };
  readonly conditions?: readonly { readonly type: string }[];
  readonly allocatedResourceStatuses?: { readonly storage?: string };
}

const conditionsOf = ({ conditions = [] }: ClaimStatus) => conditions.map(({ type }) => type).sort();

slowSuite("acceptance: volumes that grow", () => {
  let stories: Stories;
  let on: ClaimStories;
  let [one, two] = [] as unknown as [StoryNode, StoryNode];

  before(async function () {
    stories = await startStories(this, { nodes: ["node-1", "node-2"] });
    on = new ClaimStories(stories);
    [one, two] = stories.nodes as unknown as [StoryNode, StoryNode];
  });
  afterEach(() => {
    if (stories !== undefined) orderFaults(stories.world.storage.control, []);
  });

  const order = (...rules: Parameters<typeof orderFaults>[1]) => orderFaults(stories.world.storage.control, rules);
  const expansions = (claim: MadeClaim, node?: StoryNode) =>
    on.calls(claim, node).filter((rpc) => rpc === "NodeExpandVolume").length;
  const grow = ({ name }: MadeClaim, storage: string) =>
    stories.world.objects.patch(`${claims}/${name}`, { spec: { resources: { requests: { storage } } } });
  const statusOf = async ({ name }: MadeClaim) =>
    ((await stories.world.objects.get(`${claims}/${name}`)) as { status: ClaimStatus }).status;
  const hasSize = (claim: MadeClaim, storage: string) =>
    stories.objects.until(`${claim.name} to have ${storage}`, 60_000, async () => {
      return (await statusOf(claim)).capacity?.storage === storage;
    });
  const blocksOf = async (path: string) => Number((await one.host.run("stat", "-f", "-c", "%b", path)).trim());
  const bytesOf = async ({ host }: StoryNode, path: string) =>
    Number((await host.run("blockdev", "--getsize64", path)).trim());
  const nameOf = (user: string) => on.intent(user, one.name)?.metadata.name ?? "";
  const tookIn = (user: string, capacity: number) =>
    stories.objects.until(`the agent to know ${capacity} bytes`, 60_000, () => {
      const { metadata, spec, status } = on.intent(user, one.name) ?? {};
      return spec?.capacityBytes === String(capacity) && status?.observedGeneration === metadata?.generation;
    });

  it("row 17: a mounted file system grows while it is used, with one call, and the claim says so", async () => {
    const claim = await on.claim("row-17");
    const paths = ["/mnt/nodevolume/row-17", "/mnt/nodevolume/row-17-too"];
    const path = await on.used("row-17", claim, one.name, { paths });
    const before = { blocks: await blocksOf(path), mounts: idsOf(await one.mountsAt(path)), calls: expansions(claim) };
    await grow(claim, "640Mi");
    await hasSize(claim, "640Mi");
    expect(await blocksOf(path)).to.be.greaterThan(before.blocks * 1.8);
    expect(idsOf(await one.mountsAt(path))).to.deep.equal(before.mounts);
    expect(expansions(claim)).to.equal(before.calls + 1);
    const { conditions = [], allocatedResourceStatuses = {} } = await statusOf(claim);
    expect({ conditions, allocatedResourceStatuses }).to.deep.equal({ conditions: [], allocatedResourceStatuses: {} });
    const [ofClaim, ofIntent] = await on.bothTold(claim, nameOf("row-17"), "FileSystemResizeSuccessful");
    expect(ofClaim.join()).to.match(/has grown to 640Mi on every node .* \(1\)$/);
    expect(ofIntent.join()).to.match(/has grown to 671088640 bytes on node node-1 \(1\)$/);
    await on.end(["row-17"], claim);
  });

  it("row 17: what is mounted read-only is not touched", async () => {
    const claim = await on.claim("row-17-read");
    const path = await on.used("row-17-read", claim, one.name, { readOnly: true });
    const blocks = await blocksOf(path);
    await grow(claim, "640Mi");
    await tookIn("row-17-read", 640 * 2 ** 20);
    await stories.objects.ready("row-17-read", 1, 30_000);
    expect(await blocksOf(path)).to.equal(blocks);
    expect(expansions(claim)).to.equal(0);
    // kubelet: FileSystemResizeFailed on pod and claim, and the growth counts as done; here it stays pending.
    for (const told of await on.bothTold(claim, nameOf("row-17-read"), "FileSystemResizeFailed")) {
      expect(told.join()).to.match(/^\S+ the volume does not grow to 671088640 bytes on node node-1: .* \(1\)$/);
    }
    expect(conditionsOf(await statusOf(claim)))
      .to.include("FileSystemResizePending")
      .and.not.include("NodeResizeError");
    await on.end(["row-17-read"], claim);
  });

  it("row 18: a driver that cannot grow it in use is asked again only when it is set up anew, and nobody waits for that", async () => {
    const claim = await on.claim("row-18");
    const path = await on.used("row-18", claim, one.name);
    const [blocks, calls, mounts] = [await blocksOf(path), expansions(claim), idsOf(await one.mountsAt(path))];
    const fault = {
      kind: "code",
      when: "before",
      code: "FAILED_PRECONDITION",
      message: "not while it is used",
    } as const;
    order({ id: "18", rpc: "NodeExpandVolume", volume: claim.handle, fault });
    await grow(claim, "640Mi");
    // kubelet: an event and NodeResizeError on the claim; here the object says, too, what is not done yet and why, in
    // the driver's words.
    const expansion = () => on.intent("row-18", one.name)?.status?.expansion;
    await stories.objects.until("the object to say so", 60_000, () => expansion()?.reason === "VolumeInUse");
    expect(expansion()).to.include({ capacityBytes: String(640 * 2 ** 20) });
    expect(expansion()?.message).to.include("not while it is used");
    for (const told of await on.bothTold(claim, nameOf("row-18"), "VolumeResizeFailed")) {
      expect(told.join()).to.match(/on node node-1: .*not while it is used.* \(1\)$/);
    }
    await stories.objects.until("the claim to say so", 30_000, async () => {
      return conditionsOf(await statusOf(claim)).includes("NodeResizeError");
    });
    expect((await statusOf(claim)).allocatedResourceStatuses?.storage).to.equal("NodeResizeInProgress");
    order();
    // Another mount is another look at everything: it is brought, and the driver is not asked to grow.
    await on.used("row-18-too", claim, one.name);
    expect(idsOf(await one.mountsAt(path))).to.deep.equal(mounts);
    expect([await blocksOf(path), expansions(claim)]).to.deep.equal([blocks, calls + 1]);
    await stories.remove("row-18", "row-18-too");
    await on.used("row-18-anew", claim, one.name);
    await hasSize(claim, "640Mi");
    expect(conditionsOf(await statusOf(claim))).to.deep.equal([]);
    expect(await blocksOf("/mnt/nodevolume/row-18-anew")).to.be.greaterThan(blocks * 1.8);
    await on.end(["row-18-anew"], claim);
  });

  it("row 18: another failure of a driver is retried; claim and object report it once, and the growth in the end", async () => {
    const claim = await on.claim("row-18-fails");
    await on.used("row-18-fails", claim, one.name);
    const calls = expansions(claim);
    const fault = { kind: "code", when: "before", code: "INTERNAL", message: "the pool is sick" } as const;
    order({ id: "18f", rpc: "NodeExpandVolume", volume: claim.handle, fault });
    await grow(claim, "640Mi");
    await on.called(claim, "NodeExpandVolume", calls + 3);
    for (const told of await on.bothTold(claim, nameOf("row-18-fails"), "VolumeResizeFailed")) {
      expect(told.join()).to.match(/on node node-1: .*the pool is sick.* \(1\)$/);
    }
    const { allocatedResourceStatuses, ...status } = await statusOf(claim);
    expect(allocatedResourceStatuses?.storage).to.equal("NodeResizeInProgress");
    expect(conditionsOf(status)).to.include.members(["FileSystemResizePending", "NodeResizeError"]);
    order();
    await hasSize(claim, "640Mi");
    expect(conditionsOf(await statusOf(claim))).to.deep.equal([]);
    await on.bothTold(claim, nameOf("row-18-fails"), "FileSystemResizeSuccessful");
    await on.end(["row-18-fails"], claim);
  });

  it("row 19: the second node grows for itself what the first has grown already", async () => {
    const claim = await on.claim("row-19", { accessModes: ["ReadWriteMany"], volumeMode: "Block" });
    const first = await on.used("row-19-a", claim, one.name, { volumeMode: "Block" });
    const second = await on.used("row-19-b", claim, two.name, { volumeMode: "Block" });
    const before = [expansions(claim, one), expansions(claim, two)] as const;
    const hold = { kind: "hold", when: "before" } as const;
    order({ id: "19", rpc: "NodeExpandVolume", volume: claim.handle, node: two.driver.nodeID, fault: hold });
    await grow(claim, "40Mi");
    await stories.objects.until("the first node to have grown it", 60_000, async () => {
      return (await bytesOf(one, first)) === 40 * 2 ** 20;
    });
    await stories.objects.until("the second to be asked", 60_000, () => expansions(claim, two) === before[1] + 1);
    expect(await bytesOf(two, second)).to.equal(20 * 2 ** 20);
    order();
    await stories.objects.until("the second node to have grown it", 60_000, async () => {
      return (await bytesOf(two, second)) === 40 * 2 ** 20;
    });
    await hasSize(claim, "40Mi");
    expect([expansions(claim, one), expansions(claim, two)]).to.deep.equal([before[0] + 1, before[1] + 1]);
    await on.end(["row-19-a", "row-19-b"], claim);
  });
});
