import { expect } from "chai";
import { createFleet, settledFleet } from "./fleet.ts";

describe("startController: two candidates, and an API server that is away", () => {
  it("only the leader writes; the other takes over when it stops", async () => {
    const fleet = createFleet();
    fleet.node("n0");
    const first = fleet.start("c1");
    await fleet.run(1_000);
    const second = fleet.start("c2");
    await fleet.run(1_000);
    expect([first.ready(), second.ready()]).to.deep.equal([true, true]);
    fleet.set("a");
    await fleet.run(2_000);
    expect(fleet.writesOf("nodevolumeintents", "create")).to.equal(1);
    const stopping = first.stop();
    await fleet.run(200);
    await stopping;
    fleet.node("n1");
    await fleet.run(5_000);
    expect(fleet.intent("n1").status.state).to.equal("Mounted");
    const last = second.stop();
    await fleet.run(200);
    await last;
    expect([fleet.api.openWatches, fleet.system.pendingTimers]).to.deep.equal([0, 0]);
  });

  it("a leader that is cut off writes nothing more, and the next one acts on a fresh list", async () => {
    const fleet = createFleet();
    fleet.node("n0");
    fleet.set("a");
    fleet.start("c1");
    await fleet.run(2_000);
    fleet.start("c2");
    await fleet.run(5_000);
    // Only leases are refused, to c1 alone: what it would still write would be taken.
    const holder = () => {
      const lease = fleet.api.object("leases", "nodevolume-system/nodevolume-controller");
      return String((lease?.spec as { holderIdentity?: string } | undefined)?.holderIdentity);
    };
    const c1 = holder();
    fleet.api.fault = ({ method, path: at, body }) => {
      const isC1 = JSON.stringify(body ?? "").includes(c1);
      return method === "PUT" && at.endsWith("nodevolume-controller") && isC1 ? { when: "before" } : undefined;
    };
    await fleet.run(11_000);
    const before = fleet.api.writes.filter((w) => w.plural !== "leases").length;
    fleet.set("b", { volume: { source: { hostPath: { path: "/data/b" } } } });
    await fleet.run(3_000);
    expect(fleet.api.writes.filter((w) => w.plural !== "leases").length).to.equal(before);
    await fleet.run(20_000);
    expect(holder()).to.match(/^c2_/);
    expect(fleet.conditions("b")[0]).to.equal("Ready=True/AllReady");
  });

  it("a leader that is cut off in the middle of its writes does not go on with them", async () => {
    const fleet = await settledFleet(1);
    const { request } = fleet.api;
    fleet.api.request = async (r) => {
      const answer = await request(r);
      if (r.method === "POST" && r.path.endsWith("intents")) {
        await new Promise<void>((resolve) => fleet.system.timers.after(11_000, resolve));
      }
      return answer;
    };
    fleet.api.fault = ({ path: at }) => (at.endsWith("leases/nodevolume-controller") ? { when: "before" } : undefined);
    fleet.set("a", { volume: { source: { hostPath: { path: "/data/new" } } } });
    await fleet.run(20_000);
    expect(fleet.writesOf("nodevolumeintents", "create")).to.equal(2);
    expect(fleet.writesOf("nodevolumeintents", "delete")).to.equal(0);
    fleet.api.fault = () => undefined;
    await fleet.run(10_000);
    expect(fleet.intent("n0").spec.volumeName).to.equal("new");
  });

  it("a leader that lost its lease and won it again does not go on with what it had begun", async () => {
    const fleet = createFleet();
    const volume = (name: string) => ({ volume: { source: { hostPath: { path: `/data/${name}` } } } });
    const { request } = fleet.api;
    fleet.api.request = async (r) => {
      const answer = await request(r);
      if (r.method === "POST" && r.path.endsWith("intents")) {
        await new Promise<void>((resolve) => fleet.system.timers.after(20_000, resolve));
      }
      return answer;
    };
    for (const name of [..."abcde"]) fleet.set(name, volume(name));
    fleet.start();
    await fleet.run(1_000);
    fleet.node("n0");
    await fleet.run(1_000);
    expect(fleet.writesOf("nodevolumeintents", "create"), "whose answers are on the way").to.equal(4);
    // For 12 s the Lease cannot be renewed; the five intents were decided on in the term before.
    fleet.api.fault = ({ path: at }) => (at.endsWith("leases/nodevolume-controller") ? { when: "before" } : undefined);
    await fleet.run(12_000);
    fleet.api.fault = () => undefined;
    fleet.api.remove("nodevolumesets", "e");
    await fleet.run(40_000);
    expect(fleet.intents().map(({ spec }) => spec.volumeName)).to.have.members([..."abcd"]);
    expect(fleet.writesOf("nodevolumeintents", "create"), "e is wanted no more").to.equal(4);
    expect(fleet.api.object("nodevolumesets", "e")).to.equal(undefined);
  });

  it("a leader that lost its lease and won it again acts on what it read in the new term", async () => {
    const fleet = createFleet();
    fleet.node("n0");
    const { stream } = fleet.api;
    const opened = { nodes: 0, nodevolumesets: 0 };
    fleet.api.stream = (r, handlers) => {
      const plural = r.path.replace(/.*\//, "");
      if (plural !== "nodes" && plural !== "nodevolumesets") return stream(r, handlers);
      opened[plural] += 1;
      // The first list is that of the start. In the first term the Nodes are slow, in the second one the sets.
      const slow = (plural === "nodes" && opened.nodes === 2) || (plural === "nodevolumesets" && opened[plural] === 3);
      if (!slow) return stream(r, handlers);
      let cancel = fleet.system.timers.after(30_000, () => {
        cancel = stream(r, handlers);
      });
      return () => cancel();
    };
    fleet.start();
    await fleet.run(1_000);
    fleet.set("a");
    fleet.api.fault = ({ path: at }) => (at.endsWith("leases/nodevolume-controller") ? { when: "before" } : undefined);
    await fleet.run(12_000);
    fleet.api.fault = () => undefined;
    await fleet.run(10_000);
    expect(opened).to.deep.equal({ nodes: 3, nodevolumesets: 3 });
    expect(fleet.writesOf("nodevolumestates"), "the sets of this term are not read yet").to.equal(0);
    await fleet.run(30_000);
    expect(fleet.conditions("a")[0]).to.equal("Ready=True/AllReady");
  });

  it("a leader whose Lease was late, and that nobody followed, goes on with what it knows", async () => {
    const fleet = await settledFleet(1);
    const { stream } = fleet.api;
    const lists: string[] = [];
    fleet.api.stream = (r, handlers) => {
      if (r.query?.["sendInitialEvents"] !== undefined) lists.push(r.path.replace(/.*\//, ""));
      return stream(r, handlers);
    };
    const late = async (ms: number, meanwhile: () => void) => {
      fleet.api.fault = ({ path: at, method }) =>
        method === "PUT" && at.endsWith("leases/nodevolume-controller") ? { when: "before" } : undefined;
      await fleet.run(11_000);
      meanwhile();
      const writes = fleet.writesOf("nodevolumeintents");
      await fleet.run(ms);
      expect(fleet.writesOf("nodevolumeintents"), "nothing is written without the Lease").to.equal(writes);
      fleet.api.fault = () => undefined;
      await fleet.run(10_000);
    };
    const another = {
      volume: { source: { hostPath: { path: "/data/b" } } },
      mounts: [{ name: "m", path: "/mnt/nodevolume/b" }],
    };
    await late(3_000, () => fleet.set("b", another));
    expect(lists).to.deep.equal([]);
    expect(fleet.conditions("b")[0], "what came meanwhile").to.equal("Ready=True/AllReady");
    await late(3_000, () => {
      // Somebody takes it, and gives it back.
      fleet.api.patch("leases", "nodevolume-system/nodevolume-controller", {
        spec: { holderIdentity: "", leaseTransitions: 1 },
      });
    });
    expect([...new Set(lists)], "another had it").to.include.members([
      "nodes",
      "nodevolumeintents",
      "nodevolumesets",
      "pods",
    ]);
  });

  it("a new leader reads everything again before it acts", async () => {
    const fleet = createFleet();
    const lists: string[] = [];
    const nobodyWaitsFor = /\/(pods|namespaces)$/;
    fleet.api.fault = ({ method, path: at, query }) => {
      if (query?.["sendInitialEvents"] !== undefined && !nobodyWaitsFor.test(at)) lists.push(at.replace(/.*\//, ""));
      if (method !== "GET") lists.push(`write ${at.replace(/.*\//, "")}`);
      return undefined;
    };
    fleet.node("n0");
    fleet.start();
    await fleet.run(1_000);
    const won = lists.indexOf("write leases");
    const watched = ["leases", "nodes", "nodevolumeintents", "nodevolumesets", "nodevolumestates"];
    expect(lists.slice(won + 1, won + 6).sort()).to.deep.equal(watched);
    expect(lists.slice(won + 6, won + 7)).to.deep.equal(["write nodevolumestates"]);
  });

  it("does nothing while not everything can be seen, and catches up afterwards", async () => {
    const fleet = await settledFleet(2);
    const { fault } = fleet.api;
    fleet.api.fault = ({ path: at, query }) =>
      query?.["watch"] && at.endsWith("/nodes") ? { when: "before" } : undefined;
    fleet.api.breakWatches("error");
    await fleet.run(60_000);
    const before = fleet.writesOf("nodevolumeintents");
    fleet.set("a", { nodeSelector: { no: "where" } });
    await fleet.run(60_000);
    expect(fleet.intents().filter(({ metadata }) => metadata.deletionTimestamp !== undefined)).to.deep.equal([]);
    expect(fleet.writesOf("nodevolumeintents") - before).to.equal(0);
    fleet.api.fault = fault;
    await fleet.run(40_000);
    expect(fleet.intents()).to.deep.equal([]);
  });

  it("is not ready while a cache is not filled, and says which and why", async () => {
    const fleet = createFleet();
    fleet.api.fault = ({ path: at }) => (at.endsWith("nodevolumeintents") ? { status: 403 } : undefined);
    const controller = fleet.start();
    await fleet.run(1_000);
    expect([controller.ready(), controller.notReady()]).to.deep.equal([
      false,
      "caches are not filled yet: nodevolumeintents: watch: 403 Planned: planned fault",
    ]);
    fleet.api.fault = () => undefined;
    await fleet.run(20_000);
    expect([controller.ready(), controller.notReady()]).to.deep.equal([true, undefined]);
  });

  it("counts what it does", async () => {
    const fleet = await settledFleet(2);
    const text = await fleet.registry.metrics();
    for (const line of [
      'nodevolume_controller_writes_total{resource="nodevolumeintents",verb="create",result="success"} 2',
      'nodevolume_controller_intents{state="Mounted"} 2',
      "nodevolume_controller_sets 1",
      "nodevolume_controller_pods 0",
      "nodevolume_controller_leader 1",
      'nodevolume_controller_set_nodes_desired{set="a"} 2',
      'nodevolume_controller_set_nodes_ready{set="a"} 2',
      'nodevolume_controller_set_nodes_failed{set="a"} 0',
      'nodevolume_controller_set_nodes_updated{set="a"} 2',
      'nodevolume_controller_set_nodes_drifted{set="a"} 0',
      'nodevolume_controller_set_nodes_conflict{set="a"} 0',
      'nodevolume_controller_set_ready{set="a",reason="AllReady"} 1',
      'nodevolume_controller_agents{state="live"} 2',
    ]) {
      expect(text).to.contain(line);
    }
    fleet.agents.delete("n0");
    await fleet.run(200_000);
    const later = await fleet.registry.metrics();
    expect(later).to.contain('nodevolume_controller_agents{state="lost"} 1');
    expect(later).to.contain('nodevolume_controller_set_ready{set="a",reason="NodesNotReady"} 0');
    expect(text).to.match(/nodevolume_controller_reconcile_total\{queue="nodes",result="success"\} \d+/);
  });

  it("counts in few time series, whatever word an agent writes for a state", async () => {
    const fleet = await settledFleet(2);
    fleet.mute.add("n0");
    const { name } = fleet.intent("n0").metadata;
    fleet.api.patch("nodevolumeintents", name, { status: { state: "series-4711" } }, "status");
    await fleet.run(1_000);
    const said = await fleet.registry.metrics();
    expect(said).to.contain('nodevolume_controller_intents{state="Other"} 1').and.not.contain("series-4711");
  });

  it("counts in few time series, whatever word a kubelet writes into the condition of its Node", async () => {
    const fleet = await settledFleet(1);
    fleet.api.fault = ({ path: at, method }) =>
      method === "PATCH" && at.includes("/nodes/") ? { status: 403 } : undefined;
    const conditions = [{ type: "NodeVolumesReady", status: "series-4711", reason: "r", message: "" }];
    fleet.api.patch("nodes", "n0", { status: { conditions } }, "status");
    await fleet.run(1_000);
    const said = await fleet.registry.metrics();
    expect(said).to.contain('nodevolume_controller_node_readiness{state="unknown"} 1').and.not.contain("series-4711");
  });

  it("takes the leader's Lease for no sign of life of a Node that has its name, and does not delete it", async () => {
    const fleet = await settledFleet(1);
    fleet.node("nodevolume-controller");
    fleet.agents.delete("nodevolume-controller");
    await fleet.run(400_000);
    const said = await fleet.registry.metrics();
    expect(said).to.contain('nodevolume_controller_agents{state="live"} 1');
    expect(said).to.contain('nodevolume_controller_agents{state="lost"} 1');
    fleet.api.remove("nodes", "nodevolume-controller");
    await fleet.run(400_000);
    expect(fleet.api.writes.filter(({ plural, verb }) => plural === "leases" && verb === "delete")).to.deep.equal([]);
  });
});
