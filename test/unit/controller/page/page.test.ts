import { expect } from "chai";
import { type Cluster, manySets, troubledCluster, wellCluster } from "../../../../hack/lib/page/cluster.ts";
import type { Overview } from "../../../../src/controller/page/overview.ts";
import { mostTroubles } from "../../../../src/controller/page/overview-of.ts";
import { createPage, type Page } from "../../../../src/controller/page/page.ts";
import { nextStep } from "../../../../src/explain/next-steps.ts";
import { type VirtualSystem, virtualSystem } from "../../kube/virtual-system.ts";
import { rawIntent, rawLease, rawNode, rawSet, rawState, volumes, waitingStatus } from "./world.ts";

describe("the page of the controller", () => {
  let system: VirtualSystem;
  let page: Page;
  let cluster: Cluster;
  const open = (make: (system: VirtualSystem) => Cluster) => {
    system = virtualSystem();
    cluster = make(system);
    page = createPage({ system: cluster.system, view: cluster.view, version: "1.2.3" });
  };
  afterEach(() => page.stop());

  async function overview(): Promise<Overview> {
    await system.advance(1_100);
    return JSON.parse((await page.overview()).text) as Overview;
  }

  it("says of a cluster where all is well nothing but that, in few bytes", async () => {
    open((real) => wellCluster(real, 100, manySets(20)));
    const { text } = await page.overview();
    const { totals, troubles, rows } = JSON.parse(text) as Overview;
    expect(totals).to.include({ volumes: 2_000, ready: 2_000, blocked: 0, orphans: 0, badNodes: 0 });
    expect(troubles).to.deep.equal([]);
    expect(rows.map(({ line }) => line)).to.deep.equal(Array.from({ length: 20 }, () => "100r"));
    expect(rows[1]?.name).to.equal("share-2");
    expect(text.length).to.be.below(4_000);
  });

  it("names what is wrong, the worst first, and the silent node in the place of its volumes", async () => {
    open((real) => troubledCluster(real));
    const { totals, troubles, nodes, rows, line, causes } = await overview();
    expect(troubles.map(({ state, node, title, reason }) => [state, nodes[node ?? -1], title, reason])).to.deep.equal([
      ["blocked", "worker-5", "scratch", "ForeignMount"],
      ["unknown", "worker-17", "worker-17", "AgentLost"],
      ["waiting", "worker-11", "datasets", "ServerUnreachable"],
      ["orphan", "worker-21", "/mnt/nodevolume/archive", "UnexplainedRemoval"],
    ]);
    expect(totals).to.include({
      volumes: 144,
      ready: 136,
      blocked: 1,
      waiting: 1,
      unknown: 6,
      orphans: 1,
      badNodes: 1,
    });
    expect(line).to.equal("4r1b5r1w5r1u7r");
    expect(rows[0]).to.deep.include({ name: "scratch", line: "4r1b11r1u7r", ready: 22 });
    expect(rows.at(-1)).to.deep.include({ kind: "orphans", line: "20.1x3." });
    expect(causes.map(({ reason, count }) => [reason, count])).to.deep.equal([
      ["ForeignMount", 1],
      ["AgentLost", 1],
      ["ServerUnreachable", 1],
      ["UnexplainedRemoval", 1],
    ]);
  });

  it("lists so many troubles and no more, and counts all by their cause", async () => {
    open((real) => wellCluster(real, 400, manySets(4)));
    const now = system.clock.now();
    for (const node of cluster.nodes)
      for (const volume of cluster.volumes)
        cluster.view.put(
          "nodevolumeintents",
          rawIntent(node, volume, now, waitingStatus(now, 9, "SourceNotFound", "x")),
        );
    const { troubles, omitted, causes } = await overview();
    expect([troubles.length, omitted]).to.deep.equal([mostTroubles, 1_600 - mostTroubles]);
    expect(causes).to.deep.equal([{ state: "blocked", reason: "SourceNotFound", count: 1_600 }]);
  });

  it("says of a set that has no volume why, and not twice what a volume says", async () => {
    open((real) => wellCluster(real, 2));
    const [first, second] = volumes;
    const nowhere = { ...first, set: "nowhere" };
    const failing = [{ node: "worker-2", reason: "PathNotAllowed", message: "not beneath a prefix" }];
    const condition = (type: string, status: string, reason: string) => ({
      ...{ type, status, reason, message: `${reason}!`, lastTransitionTime: "2026-11-25T11:00:00Z" },
    });
    cluster.view.put(
      "nodevolumesets",
      rawSet(first, { failing, conditions: [condition("Conflict", "True", "Conflict")] }),
    );
    cluster.view.put(
      "nodevolumesets",
      rawSet(nowhere, { conditions: [condition("Ready", "False", "NoNodesSelected")] }),
    );
    const broken = rawSet(second);
    cluster.view.put("nodevolumesets", { ...broken, spec: { volume: 7 } });
    const { troubles, totals } = await overview();
    expect(troubles.map(({ kind, name, reason, node }) => [kind, name, reason, node]).sort()).to.deep.equal([
      ["set", "datasets", "Conflict", undefined],
      ["set", "datasets", "PathNotAllowed", 1],
      ["set", "nowhere", "NoNodesSelected", undefined],
      ["set", "scratch", "Invalid", undefined],
    ]);
    expect(totals.badSets).to.equal(3);
    const now = system.clock.now();
    cluster.view.put(
      "nodevolumeintents",
      rawIntent("worker-2", first, now, waitingStatus(now, 9, "PathNotAllowed", "x")),
    );
    const after = (await overview()).troubles.filter(({ reason }) => reason === "PathNotAllowed");
    expect(after.map(({ kind }) => kind)).to.deep.equal(["volume"]);
  });

  it("leaves out a node that has nothing of ours, and shows one whose Node is gone", async () => {
    open((real) => wellCluster(real, 2));
    cluster.view.put("nodes", rawNode("control-plane"));
    cluster.view.remove("nodes", "worker-2");
    const { nodes, troubles, volumes: counts } = await overview();
    expect(nodes).to.deep.equal(["control-plane", "worker-1", "worker-2"]);
    expect(counts).to.deep.equal([0, 6, 6]);
    expect(troubles).to.deep.equal([]);
  });

  it("says since when the API server is not heard", async () => {
    open((real) => wellCluster(real, 2));
    cluster.view.connected(false);
    expect((await overview()).stale).to.match(/^the API server does not answer since 20\d\d-/);
    cluster.view.connected(true);
    expect((await overview()).stale).to.equal(undefined);
  });

  it("tells of changes at most once a second, and not of what it does not show", async () => {
    open((real) => wellCluster(real, 20));
    await page.overview();
    const tags: string[] = [];
    page.follow((tag) => tags.push(tag));
    const [volume] = volumes;
    for (let at = 0; at < 100; at += 1) {
      const now = system.clock.now();
      cluster.view.put(
        "nodevolumeintents",
        rawIntent("worker-3", volume, now, waitingStatus(now, at, "SourceNotFound", `try ${at}`)),
      );
      await system.advance(50);
    }
    expect(tags.length).to.be.within(4, 6);
    await system.advance(3_000);
    const before = tags.length;
    const pending = system.pendingTimers;
    for (const node of cluster.nodes) cluster.view.put("nodes", { ...rawNode(node), annotations: { beat: "1" } });
    expect(system.pendingTimers, "work that was planned").to.equal(pending);
    await system.advance(3_000);
    expect(tags).to.have.length(before);
    expect(new Set(tags).size).to.equal(before);
  });

  it("works nothing out while nobody looks", async () => {
    open((real) => wellCluster(real, 3));
    await page.overview();
    const pending = system.pendingTimers;
    cluster.view.put("nodes", rawNode("worker-9"));
    expect(system.pendingTimers).to.equal(pending);
    const stop = page.follow(() => undefined);
    expect(system.pendingTimers).to.equal(pending + 1);
    stop?.();
  });

  it("lets so many follow and no more", () => {
    open((real) => wellCluster(real, 1));
    const cancels = Array.from({ length: 32 }, () => page.follow(() => undefined));
    expect(cancels.every((cancel) => cancel !== undefined)).to.equal(true);
    expect(page.follow(() => undefined)).to.equal(undefined);
    cancels[0]?.();
    expect(page.follow(() => undefined)).not.to.equal(undefined);
  });

  it("explains a volume as kubectl nvi does, with the history that is read of it alone", async () => {
    open((real) => troubledCluster(real));
    const name = "worker-5.scratch-9a8fb0fbcd";
    const asked = page.volume(name);
    await system.advance(10);
    const found = await asked;
    expect(cluster.view.reads).to.deep.equal([`/apis/nodevolume.dev/v1alpha1/nodevolumeintents/${name}`]);
    expect(found?.history.map(({ state, lastedMs }) => [state, lastedMs])).to.deep.equal([
      ["Waiting", undefined],
      ["Mounting", 1_000],
      ["Mounted", 172_800_000 - 253_000],
    ]);
    const [, why] = found?.chain ?? [];
    expect(why).to.deep.include({
      code: "ForeignMount",
      state: "blocked",
      todo: nextStep("ForeignMount", { node: "worker-5", path: "/mnt/nodevolume/scratch" }),
      attempts: 3,
    });
    expect(found?.chain.map(({ code }) => code)).to.deep.equal(["Waiting", "ForeignMount"]);
    expect(await page.volume("worker-5.other-0000000000")).to.equal(undefined);
  });

  it("goes without what the API server does not answer", async () => {
    open((real) => troubledCluster(real));
    cluster.view.connected(false);
    const asked = page.volume("worker-5.scratch-9a8fb0fbcd");
    await system.advance(3_100);
    const found = await asked;
    expect(found?.notRead).to.equal("the API server does not answer");
    expect(found?.chain.map(({ code }) => code)).to.deep.equal(["Waiting", "ForeignMount"]);
    expect(found?.history).to.deep.equal([]);
  });

  it("shows the volumes of a node, the worst first, its agent and its orphans with their remedies", async () => {
    open((real) => troubledCluster(real));
    const asked = [page.node("worker-17"), page.node("worker-21"), page.node("worker-5"), page.node("nobody")];
    await system.advance(10);
    const [silent, orphaned, blocked, nobody] = await Promise.all(asked);
    expect(silent).to.deep.include({ standing: "unknown", name: "worker-17" });
    expect(silent?.agent.life).to.equal("lost");
    expect(silent?.chain.map(({ code }) => code)).to.deep.equal(["AgentLost"]);
    expect(orphaned).to.deep.include({ standing: "orphan", orphaned: 1 });
    expect(orphaned?.orphans[0]?.remedy).to.match(/^Create the set again/);
    expect(blocked?.volumes[0]).to.deep.include({ volume: "scratch", standing: "blocked", reason: "ForeignMount" });
    expect(nobody).to.equal(undefined);
  });

  it("shows an agent as late a minute after its last renewal, to who follows, too, and no more once it renews", async () => {
    open((real) => wellCluster(real, 3));
    const tags: string[] = [];
    page.follow((tag) => tags.push(tag));
    const renew = (node: string) => cluster.view.put("leases", rawLease(node, system.clock.now()));
    const shown = async () => {
      const { troubles, totals } = JSON.parse((await page.overview()).text) as Overview;
      return [totals.badNodes, ...troubles.map(({ state, title, reason }) => `${state} ${title} ${reason}`)];
    };
    await system.advance(30_000);
    for (const node of ["worker-1", "worker-3"]) renew(node);
    await system.advance(29_000);
    expect(await shown()).to.deep.equal([0]);
    await system.advance(3_000);
    expect(await shown()).to.deep.equal([1, "waiting worker-2 AgentLate"]);
    expect(tags).to.have.length(2);
    const asked = page.node("worker-2");
    await system.advance(10);
    const found = await asked;
    expect(found).to.deep.include({ standing: "waiting" });
    expect(found?.agent.life).to.equal("late");
    expect(found?.chain.map(({ code, todo }) => [code, todo])).to.deep.equal([
      ["AgentLate", nextStep("AgentLate", { node: "worker-2" })],
    ]);
    for (const node of ["worker-1", "worker-2", "worker-3"]) renew(node);
    await system.advance(2_000);
    expect(await shown()).to.deep.equal([0]);
    expect(tags).to.have.length(3);
  });

  it("says nothing of what a source has in it", async () => {
    open((real) => wellCluster(real, 1));
    const secretive = {
      set: "flex",
      type: "flexVolume",
      source: { flexVolume: { driver: "a/b", options: { token: "canary-7f3a" } } },
    };
    cluster.view.put("nodevolumeintents", rawIntent("worker-1", secretive as never, system.clock.now()));
    cluster.view.put("nodevolumestates", rawState("worker-1"));
    const asked = [page.volume("worker-1.flex-9a8fb0fbcd"), page.node("worker-1")];
    await system.advance(10);
    const texts = [...(await Promise.all(asked)).map((one) => JSON.stringify(one)), (await page.overview()).text];
    expect(texts[0]).to.include('"type":"flexVolume"');
    for (const text of texts) expect(text).not.to.include("canary-7f3a");
  });
});
