// Rows of the acceptance table about staging and publishing on one node: what kubelet does, and what we do.
import { truncateSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { csiDir } from "../../hack/lib/csi/paths.ts";
import { slowSuite } from "../../hack/lib/lanes/slow.ts";
import { layout } from "../../hack/lib/pretend-node/node.ts";
import { orderFaults } from "../drivers/lib/faults.ts";
import { attachments, ClaimStories, idsOf, type MadeClaim, pathOf } from "../lib/csi/csi-claims.ts";
import { type Stories, type StoryNode, startStories } from "../lib/csi/csi-stories.ts";

/**
 * A call that was cut off may take effect until its deadline, 2 minutes; so long its volume is not given back. Rows
 * that cut one off come early: the others take that time.
 */
const cutOffMs = 200_000;

slowSuite("acceptance: volumes on a node", () => {
  let stories: Stories;
  let on: ClaimStories;
  let node: StoryNode;
  /** Its agent's record is emptied: as long as the machine runs it knows that it may have lost some. */
  let forgetful: StoryNode;
  /** Of which that record spoke. */
  let emptied: MadeClaim;

  before(async function () {
    stories = await startStories(this, { nodes: ["node-1", "forgetful"] });
    on = new ClaimStories(stories);
    [node, forgetful] = stories.nodes as [StoryNode, StoryNode];
  });
  afterEach(() => {
    if (stories !== undefined) orderFaults(stories.world.storage.control, []);
  });

  const order = (...rules: Parameters<typeof orderFaults>[1]) => orderFaults(stories.world.storage.control, rules);
  const count = (claim: MadeClaim, effect: string) => on.effects(claim).filter((what) => what === effect).length;
  const stagingMounts = async ({ host } = node) =>
    (await host.mounts()).filter((line) => line.split(" ")[4]?.startsWith(csiDir));
  const gone = (user: string, ms = 60_000) =>
    stories.objects.until(`${user} to be gone`, ms, () => !stories.objects.sets.has(user));

  it("row 4: an agent begins without the record of a volume that goes", async () => {
    emptied = await on.claim("row-4");
    await on.used("row-4", emptied, forgetful.name);
    forgetful.agent.kill("SIGKILL");
    await forgetful.agent.ended;
    truncateSync(join(`/proc/${forgetful.host.pid}/root`, layout.stateDir, "journal"), 0);
    await on.leave("row-4");
    await forgetful.restartAgent();
    // Given back by and by, see the last tests.
  });

  it("row 3: an agent that starts anew touches no mount that is as it should be", async () => {
    const claim = await on.claim("row-3");
    const others = await stagingMounts();
    const path = await on.used("row-3", claim, node.name);
    const staged = (await stagingMounts()).filter((line) => !others.includes(line));
    expect(staged, "the staging path and one publish path").to.have.lengthOf(2);
    const [mounts, calls] = [await node.mountsAt(path), on.calls(claim)];
    const lock = await node.host.run("sh", "-c", `cd ${path} && (sleep 600 >/dev/null 2>&1 & echo $!)`);
    await node.restartAgent();
    // Once it brings another mount of the same volume, it has looked at this one.
    const second = await on.used("row-3-later", claim, node.name);
    await node.host.run("kill", lock.trim());
    expect(idsOf(await node.mountsAt(path))).to.deep.equal(idsOf(mounts));
    expect(await stagingMounts()).to.include.members(staged);
    // kubelet: Stage and Publish are called again. Here the kernel's table says that there is nothing to do.
    const since = on.calls(claim).slice(calls.length);
    expect(since).to.deep.equal(["NodePublishVolume"]);
    expect(await node.mountsAt(second)).to.have.lengthOf(1);
    await on.end(["row-3", "row-3-later"], claim);
  });

  it("row 2: killed between stage and publish, the agent goes on, with one staged mount", async () => {
    const claim = await on.claim("row-2");
    order({ id: "2", rpc: "NodePublishVolume", volume: claim.handle, fault: { kind: "hold", when: "before" } });
    const path = await on.use("row-2", claim, node.name);
    await on.called(claim, "NodePublishVolume");
    node.agent.kill("SIGKILL");
    await node.agent.ended;
    order();
    await node.restartAgent();
    await stories.objects.ready("row-2", 1, 60_000);
    expect(count(claim, "staged")).to.equal(1);
    expect(count(claim, "published")).to.equal(1);
    expect(await node.mountsAt(path)).to.have.lengthOf(1);
    expect(await stagingMounts(), "the staging path and one publish path").to.have.lengthOf(2);
    await on.leave("row-2"); // its call that was cut off is waited for, see the last tests
  });

  it("row 24: without its driver a volume waits, mounted or not, and goes on when it is back", async () => {
    const [claim, later] = [await on.claim("row-24-a"), await on.claim("row-24-b")];
    const path = await on.used("row-24-a", claim, node.name);
    const before = await node.mountsAt(path);
    order({ id: "24", rpc: "NodeStageVolume", volume: later.handle, fault: { kind: "hold", when: "before" } });
    await on.use("row-24-b", later, node.name);
    await on.called(later, "NodeStageVolume");
    node.driver.process.kill("SIGKILL");
    await node.driver.process.ended;
    order();
    await on.waits("row-24-b", node.name, "DriverUnavailable");
    await on.leave("row-24-a");
    await on.waits("row-24-a", node.name, "DriverUnavailable");
    expect(on.effects(claim)).not.to.include("unstaged");
    expect(before).to.have.lengthOf(1);
    await node.driver.restart();
    await stories.objects.ready("row-24-b", 1, 60_000);
    await gone("row-24-a");
    await on.leave("row-24-b"); // its call that was cut off is waited for, see the last tests
    await on.end([], claim);
  });

  it("row 5: what somebody unmounts is mounted again, and said", async () => {
    const claim = await on.claim("row-5");
    const path = await on.used("row-5", claim, node.name);
    await node.host.run("sh", "-c", `echo kept > ${path}/word`);
    await node.host.run("umount", path);
    // kubelet: the volume counts as mounted, and nothing is repaired.
    await stories.objects.until("the mount to be back", 10_000, async () => (await node.mountsAt(path)).length === 1);
    expect(await node.host.run("cat", `${path}/word`)).to.equal("kept\n");
    await stories.objects.until("an event that says so", 10_000, async () => {
      const { items } = (await stories.world.objects.get("/api/v1/events")) as {
        items: { reason: string; note?: string; involvedObject: { name: string } }[];
      };
      const name = on.intent("row-5", node.name)?.metadata.name;
      return items.some(({ reason, involvedObject }) => reason === "Drifted" && involvedObject.name === name);
    });
    await on.end(["row-5"], claim);
  });

  it("row 7: two users on one node have one stage and two publishes, and the first that goes leaves the stage", async () => {
    const claim = await on.claim("row-7");
    const first = await on.used("row-7-a", claim, node.name);
    const second = await on.used("row-7-b", claim, node.name);
    await node.host.run("sh", "-c", `echo shared > ${first}/word`);
    expect(await node.host.run("cat", `${second}/word`)).to.equal("shared\n");
    expect([count(claim, "staged"), count(claim, "published")]).to.deep.equal([1, 2]);
    const before = idsOf(await node.mountsAt(second));
    await stories.remove("row-7-a");
    await stories.objects.until(
      "the first to be unmounted",
      30_000,
      async () => (await node.mountsAt(first)).length === 0,
    );
    await stories.objects.until("its publish to be undone", 30_000, () => count(claim, "unpublished") === 1);
    expect(idsOf(await node.mountsAt(second))).to.deep.equal(before);
    expect(count(claim, "unstaged")).to.equal(0);
    await on.end(["row-7-b"], claim);
    expect(count(claim, "unstaged")).to.equal(1);
  });

  it("row 27: of two users that go together both are unpublished, and then it is unstaged, once", async () => {
    const claim = await on.claim("row-27");
    await on.used("row-27-a", claim, node.name);
    await on.used("row-27-b", claim, node.name);
    await stories.remove("row-27-a", "row-27-b");
    expect(on.effects(claim).slice(-4)).to.deep.equal(["unpublished", "unpublished", "unstaged", "detached"]);
    expect(count(claim, "unstaged")).to.equal(1);
    await on.end([], claim);
  });

  it("row 10: what goes while it is being mounted waits for that, and is undone in order", async () => {
    const claim = await on.claim("row-10");
    order({ id: "10", rpc: "NodePublishVolume", volume: claim.handle, fault: { kind: "hold", when: "before" } });
    const path = await on.use("row-10", claim, node.name);
    await on.called(claim, "NodePublishVolume");
    await on.leave("row-10");
    await stories.objects.until("the agent to know that it goes", 30_000, () => {
      const { metadata, status } = on.intent("row-10", node.name) ?? {};
      return metadata?.deletionTimestamp !== undefined && status?.observedGeneration === metadata.generation;
    });
    expect(on.calls(claim).filter((rpc) => /^NodeUn/.test(rpc))).to.deep.equal([]);
    expect(on.intent("row-10", node.name)?.status?.inUse).to.equal(true);
    expect(await on.attachedTo(claim)).to.have.lengthOf(1);
    order();
    await gone("row-10");
    expect(on.effects(claim).slice(-4)).to.deep.equal(["published", "unpublished", "unstaged", "detached"]);
    expect(await node.mountsAt(path)).to.deep.equal([]);
    await on.end([], claim);
  });

  it("row 11: a target that a process is in waits, and says which process", async () => {
    const claim = await on.claim("row-11");
    const path = await on.used("row-11", claim, node.name);
    const pid = (await node.host.run("sh", "-c", `cd ${path} && (sleep 600 >/dev/null 2>&1 & echo $!)`)).trim();
    await on.leave("row-11");
    // kubelet: the device is busy, without an event; here the status names the process.
    expect(await on.waits("row-11", node.name, "TargetBusy")).to.include(pid);
    expect(await on.attachedTo(claim)).to.have.lengthOf(1);
    expect(count(claim, "unstaged")).to.equal(0);
    await node.host.run("kill", pid);
    await gone("row-11");
    expect(on.effects(claim).slice(-3)).to.deep.equal(["unpublished", "unstaged", "detached"]);
    await on.end([], claim);
  });

  it("row 4: with its record emptied, the agent still gives the volume back", async function () {
    this.timeout(300_000);
    // kubelet: without vol_data.json TearDown fails for ever, and the pod stays Terminating. Here what stands in our
    // own folders is record enough; but a call may have been cut off of which nothing is known any more: its deadline
    // is waited for.
    await gone("row-4", cutOffMs);
    expect(await forgetful.mountsAt(pathOf("row-4"))).to.deep.equal([]);
    expect(on.effects(emptied).slice(-3)).to.deep.equal(["unpublished", "unstaged", "detached"]);
    await on.end([], emptied);
  });

  it("nothing is left over of all these", async function () {
    this.timeout(300_000);
    await stories.objects.until("every volume to be released", cutOffMs, () => stories.objects.sets.size === 0);
    expect(stories.objects.intents.size).to.equal(0);
    const { items } = (await stories.world.objects.get(attachments)) as { items: object[] };
    expect(items).to.deep.equal([]);
    for (const one of stories.nodes) expect(await stagingMounts(one), one.name).to.deep.equal([]);
    expect(stories.world.storage.loops()).to.deep.equal([]);
  });
});
