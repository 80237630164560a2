import { expect } from "chai";
import { createFleet, settledFleet } from "./fleet.ts";
import { condition } from "./objects.ts";

describe("startController: nodes that come, go and are silent", () => {
  it("a Node that is gone keeps its intent; one that comes back under another UID goes on with it", async () => {
    const fleet = await settledFleet(2);
    const before = fleet.intent("n0").metadata;
    fleet.api.remove("nodes", "n0");
    await fleet.run(2_000);
    expect(fleet.setStatus("a")["desired"]).to.equal(1);
    expect(fleet.intent("n0").metadata.deletionTimestamp).to.equal(undefined);
    fleet.node("n0");
    await fleet.run(2_000);
    const after = fleet.intent("n0");
    expect(after.metadata.uid).to.equal(before.uid);
    expect(after.spec.nodeUID).to.equal(fleet.api.object("nodes", "n0")?.metadata.uid);
    expect(fleet.conditions("a")[0]).to.equal("Ready=True/AllReady");
  });

  it("an agent that is silent is lost after its Lease, and found again when it renews", async () => {
    const fleet = await settledFleet(2);
    fleet.agents.delete("n0");
    await fleet.run(250_000);
    expect(fleet.intent("n0").status.agentState?.state).to.equal("Lost");
    expect(fleet.intent("n0").status.conditions?.[0]).to.deep.include({ status: "Unknown", reason: "AgentLost" });
    expect(fleet.intent("n1").status.agentState).to.equal(undefined);
    expect(fleet.setStatus("a")).to.deep.include({ desired: 2, ready: 1 });
    fleet.agents.add("n0");
    await fleet.run(2_000);
    expect(fleet.intent("n0").status.agentState?.state).to.equal("Live");
    expect(fleet.conditions("a")[0]).to.equal("Ready=True/AllReady");
  });

  it("people are told within a minute that an agent is silent, once, and of nothing that is decided before its Lease", async () => {
    const fleet = await settledFleet(2);
    const told = () =>
      fleet.api
        .objects("events")
        .filter((event) => `${event["reason"]}`.startsWith("Agent"))
        .map((event) => {
          const { kind, name, uid } = event["involvedObject"] as { kind: string; name: string; uid: string };
          expect(uid).to.equal(fleet.api.object("nodes", "n0")?.metadata.uid);
          return [event["type"], event["reason"], kind, name, event["count"]].join(" ");
        });
    fleet.agents.delete("n0");
    await fleet.run(62_000);
    expect(told()).to.deep.equal(["Warning AgentLate Node n0 1"]);
    expect(await fleet.registry.metrics()).to.contain('nodevolume_controller_agents{state="late"} 1');
    expect(fleet.intent("n0").status.agentState, "before its Lease has run out").to.equal(undefined);
    expect(fleet.conditions("a")[0]).to.equal("Ready=True/AllReady");
    await fleet.run(180_000);
    expect(told()).to.deep.equal(["Warning AgentLate Node n0 1", "Warning AgentLost Node n0 1"]);
    fleet.agents.add("n0");
    await fleet.run(2_000);
    expect(told()[2]).to.equal("Normal AgentLive Node n0 1");
    await fleet.run(200_000);
    expect(told()).to.have.length(3);
    // The agent writes its own state again, and is late once more, but back before its Lease has run out.
    const conditions = [condition("Ready", "True", "InSync")];
    fleet.api.patch("nodevolumestates", "n0", { status: { conditions } }, "status");
    fleet.agents.delete("n0");
    await fleet.run(100_000);
    fleet.agents.add("n0");
    await fleet.run(2_000);
    const [late, lost, live] = told();
    expect([late, lost, live]).to.deep.equal([
      "Warning AgentLate Node n0 2",
      "Warning AgentLost Node n0 1",
      "Normal AgentLive Node n0 2",
    ]);
  });

  it("the next leader repeats nothing of an agent that is known to be lost, and tells when it is back", async () => {
    const fleet = createFleet();
    fleet.node("n0");
    fleet.set("a");
    const first = fleet.start();
    await fleet.run(3_000);
    fleet.agents.delete("n0");
    await fleet.run(250_000);
    const told = () => fleet.api.objects("events").map((event) => event["reason"]);
    expect(told()).to.include.members(["AgentLate", "AgentLost"]);
    const stopping = first.stop();
    await fleet.run(1_000);
    await stopping;
    const before = told().length;
    fleet.start("c2");
    await fleet.run(250_000);
    expect(told()).to.have.length(before);
    fleet.agents.add("n0");
    await fleet.run(2_000);
    expect(told().slice(before)).to.include("AgentLive");
  });

  it("the state of a node whose agent is silent says nothing of before any more, and says so once", async () => {
    const fleet = await settledFleet(2);
    const report = (name: string) => {
      const conditions = [condition("Ready", "True", "InSync"), condition("Drained", "True", "Released")];
      fleet.api.patch("nodevolumestates", name, { status: { conditions } }, "status");
    };
    report("n0");
    report("n1");
    fleet.agents.delete("n0");
    // Without an intent there is still a state to speak of.
    fleet.api.remove("nodevolumesets", "a");
    await fleet.run(250_000);
    const lost = ["Ready=Unknown/AgentLost", "Drained=Unknown/AgentLost"];
    expect(fleet.conditions("n0", "nodevolumestates")).to.deep.equal(lost);
    expect(fleet.conditions("n1", "nodevolumestates")[1]).to.equal("Drained=True/Released");
    const writes = () => fleet.writesOf("nodevolumestates", "patch");
    const before = writes();
    // An agent that cannot renew its Lease, and writes nevertheless, is not argued with.
    report("n0");
    await fleet.run(60_000);
    expect(writes() - before).to.equal(0);
    expect(fleet.conditions("n0", "nodevolumestates")[0]).to.equal("Ready=True/InSync");
    // Heard, and silent again: said again.
    fleet.agents.add("n0");
    await fleet.run(70_000);
    fleet.agents.delete("n0");
    await fleet.run(250_000);
    expect(fleet.conditions("n0", "nodevolumestates")).to.deep.equal(lost);
  });

  it("a deleted set waits for a lost node for ever, and says so; the policy's clock ends it, aloud", async () => {
    const fleet = await settledFleet(2, { nodeLossPolicy: { type: "AfterTimeout", timeoutSeconds: 600 } });
    fleet.agents.delete("n0");
    fleet.api.remove("nodes", "n0");
    fleet.api.remove("nodevolumesets", "a");
    await fleet.run(300_000);
    expect(fleet.conditions("a")[0]).to.equal("Ready=False/NodeLost");
    expect(fleet.intent("n0").status.conditions?.[0]?.reason).to.equal("NodeLost");
    await fleet.run(600_000);
    expect(fleet.api.object("nodevolumesets", "a")).to.equal(undefined);
    const reasons = fleet.api.objects("events").map((e) => e["reason"]);
    expect(reasons).to.include("ReleasedWithoutAcknowledgement");
    expect(fleet.api.objects("nodevolumestates").map((o) => o.metadata.name)).to.deep.equal(["n1"]);
  });

  it("nodeLossPolicy gives up a node that is lost though the set lives on, before and after its agent fell silent", async () => {
    const fleet = await settledFleet(3, { nodeLossPolicy: { type: "AfterTimeout", timeoutSeconds: 120 } });
    // The agent of n0 was silent for long when its Node is deleted: nothing will change any more but the time.
    fleet.agents.delete("n0");
    await fleet.run(200_000);
    fleet.api.remove("nodes", "n0");
    fleet.agents.delete("n1");
    fleet.api.remove("nodes", "n1");
    const nodes = () => fleet.intents().map(({ spec }) => spec.nodeName);
    await fleet.run(110_000);
    expect(nodes()).to.deep.equal(["n0", "n1", "n2"]);
    await fleet.run(15_000);
    expect(nodes(), "two minutes without a Node and a Lease").to.deep.equal(["n1", "n2"]);
    await fleet.run(190_000);
    expect(nodes(), "two minutes after its Lease ran out").to.deep.equal(["n2"]);
    expect(fleet.conditions("a")[0]).to.equal("Ready=True/AllReady");
  });

  it("the Lease of an agent goes after its Node and all that was on it, once it has run out", async () => {
    const fleet = await settledFleet(2);
    const leases = () => fleet.api.objects("leases").map((lease) => lease.metadata.name);
    fleet.api.remove("nodevolumesets", "a");
    await fleet.run(2_000);
    fleet.api.remove("nodes", "n0");
    await fleet.run(120_000);
    expect(leases(), "its agent still renews it").to.have.members(["n0", "n1", "nodevolume-controller"]);
    fleet.agents.clear();
    await fleet.run(400_000);
    expect(leases(), "the other Node is there").to.have.members(["n1", "nodevolume-controller"]);
  });

  it("a rebooted node releases what was deleted, once its agent is silent", async () => {
    const fleet = await settledFleet(1);
    fleet.agents.clear();
    fleet.api.remove("nodevolumesets", "a");
    await fleet.run(2_000);
    expect(fleet.intents()).to.have.length(1);
    fleet.api.patch("nodes", "n0", { status: { nodeInfo: { bootID: "the-next" } } });
    await fleet.run(100_000);
    expect(fleet.intents(), "its Lease is valid").to.have.length(1);
    await fleet.run(100_000);
    expect(fleet.intents()).to.deep.equal([]);
    expect(fleet.api.object("nodevolumesets", "a")).to.equal(undefined);
  });

  it("a rebooted node whose agent stays silent is not looked at again and again", async () => {
    const fleet = await settledFleet(2);
    fleet.agents.delete("n0");
    fleet.api.patch("nodes", "n0", { status: { nodeInfo: { bootID: "the-next" } } });
    await fleet.run(300_000);
    const runs = async () => (await fleet.registry.metrics()).match(/^nodevolume_controller_reconcile_total.* \d+$/gm);
    const before = await runs();
    expect(before).not.to.equal(null);
    await fleet.run(10_000);
    expect(await runs()).to.deep.equal(before);
    expect(fleet.intents()).to.have.length(2);
  });

  it("a rebooted node keeps what was deleted while the agent of the new boot lives, whatever its status says", async () => {
    const fleet = await settledFleet(1);
    // The agent of the new boot has mounted again; its status is refused, so what is there is of the boot before.
    fleet.api.patch("nodes", "n0", { status: { nodeInfo: { bootID: "the-next" } } });
    fleet.mute.add("n0");
    fleet.api.remove("nodevolumesets", "a");
    await fleet.run(600_000);
    expect(fleet.intents()).to.have.length(1);
    expect(fleet.api.object("nodevolumesets", "a")).not.to.equal(undefined);
  });

  it("a renewal that the watch has not shown yet counts as a sign of life", async () => {
    const fleet = await settledFleet(1);
    fleet.agents.clear();
    fleet.api.remove("nodevolumesets", "a");
    fleet.api.patch("nodes", "n0", { status: { nodeInfo: { bootID: "the-next" } } });
    await fleet.run(100_000);
    // The agent comes back; its renewal lands between the controller's look at its cache and that at the server.
    let reads = 0;
    fleet.api.fault = ({ method, path: at }) => {
      if (method === "GET" && at.endsWith("/nodes/n0")) {
        reads += 1;
        const [lease] = fleet.api.objects("leases").filter(({ metadata }) => metadata.name === "n0");
        const renewed = { ...(lease?.spec as object), renewTime: `renewal ${reads}` };
        fleet.api.apply("leases", { metadata: { name: "n0", namespace: "nodevolume-system" }, spec: renewed });
      }
      return undefined;
    };
    await fleet.run(100_000);
    expect(reads).to.be.greaterThan(0);
    expect(fleet.intents()).to.have.length(1);
  });

  it("never takes the finalizer off on a status that is only in its cache", async () => {
    const fleet = await settledFleet(1);
    fleet.agents.clear();
    const { name } = fleet.intent("n0").metadata;
    fleet.api.remove("nodevolumeintents", name);
    await fleet.run(200);
    // The acknowledgement arrives by the watch, and is taken back before the controller looks.
    let answers = 0;
    fleet.api.fault = ({ method, path: at }) => {
      if (method === "GET" && at.endsWith(name)) {
        answers += 1;
        if (answers === 1) fleet.api.patch("nodevolumeintents", name, { status: { inUse: true } }, "status");
      }
      return undefined;
    };
    const intent = fleet.intent("n0");
    const { uid = "", generation = 0 } = intent.metadata;
    const acknowledged = {
      observedUID: uid,
      observedGeneration: generation,
      grantID: intent.spec.grant?.id,
      state: "Released",
      inUse: false,
    };
    fleet.api.patch("nodevolumeintents", name, { status: acknowledged }, "status");
    await fleet.run(5_000);
    expect(answers).to.be.greaterThan(0);
    expect(fleet.intents().map((i) => i.metadata.uid)).to.deep.equal([uid]);
  });
});
