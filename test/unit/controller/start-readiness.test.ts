import { expect } from "chai";
import { createFleet, type Fleet, settledFleet } from "./fleet.ts";
import { condition } from "./objects.ts";

const ours = { key: "nodevolume.dev/not-ready", effect: "NoSchedule" };
const foreign = { key: "example.com/gpu", value: "a", effect: "NoSchedule" };

/** What a Node shows: "True/AllReady", and the keys of its taints. */
function shown(fleet: Fleet, name = "n0"): string[] {
  const { spec, status } = fleet.api.object("nodes", name) as {
    spec?: { taints?: { key: string }[] };
    status?: { conditions?: { type: string; status: string; reason: string }[] };
  };
  const conditions = (status?.conditions ?? []).filter(({ type }) => type === "NodeVolumesReady");
  return [...conditions.map((c) => `${c.status}/${c.reason}`), ...(spec?.taints ?? []).map(({ key }) => key)];
}

describe("startController: what Nodes show of their volumes", () => {
  it("a Node that was registered with the taint loses it once its volume is there, and keeps those of others", async () => {
    const fleet = createFleet();
    fleet.set("a", { nodeReadiness: "Taint" });
    fleet.start();
    await fleet.run(500);
    fleet.node("n0", { taints: [foreign, ours] });
    fleet.set("a", { nodeReadiness: "Taint", tolerations: [{ key: foreign.key, operator: "Exists" }] });
    fleet.agents.clear();
    await fleet.run(1_000);
    expect(shown(fleet)).to.deep.equal(["False/NotObserved", foreign.key, ours.key]);
    fleet.agents.add("n0");
    await fleet.run(2_000);
    expect(shown(fleet)).to.deep.equal(["True/AllReady", foreign.key]);
  });

  it("a Node's life costs four writes: not ready with its taint, ready without", async () => {
    const fleet = await settledFleet(1, { nodeReadiness: "Taint" });
    expect(shown(fleet)).to.deep.equal(["True/AllReady"]);
    expect(fleet.writesOf("nodes")).to.equal(4);
    await fleet.run(300_000);
    expect(fleet.writesOf("nodes")).to.equal(4);
  });

  it("nothing is written to a Node where no set asks for it", async () => {
    expect((await settledFleet(2)).writesOf("nodes")).to.equal(0);
  });

  it("shows what is wrong, taints for it, and puts back what somebody has taken off", async () => {
    const fleet = await settledFleet(1, { nodeReadiness: "Taint" });
    fleet.failures.set("n0", { conditions: [condition("Ready", "False", "SourceNotFound", "no such path")] });
    await fleet.run(2_000);
    expect(shown(fleet)).to.deep.equal(["False/SourceNotFound", ours.key]);
    fleet.api.patch("nodes", "n0", { spec: { taints: null } });
    await fleet.run(2_000);
    expect(shown(fleet)).to.deep.equal(["False/SourceNotFound", ours.key]);
  });

  it("an agent that is lost changes no taint, and the condition is Unknown", async () => {
    const fleet = await settledFleet(1, { nodeReadiness: "Taint" });
    fleet.agents.clear();
    await fleet.run(200_000);
    expect(shown(fleet)).to.deep.equal(["Unknown/AgentLost"]);
    fleet.agents.add("n0");
    await fleet.run(70_000);
    expect(shown(fleet)).to.deep.equal(["True/AllReady"]);
  });

  it("a cause that says the same in other words all the time is written once a minute", async () => {
    const fleet = await settledFleet(1, { nodeReadiness: "Condition" });
    const before = fleet.writesOf("nodes");
    for (let i = 0; i < 60; i += 1) {
      fleet.failures.set("n0", { conditions: [condition("Ready", "False", "SourceNotFound", `attempt ${i}`)] });
      await fleet.run(2_000);
    }
    expect(fleet.writesOf("nodes") - before).to.be.within(2, 3);
  });

  it("what is true and false by turns is written ten times, and then each ten seconds", async () => {
    const fleet = await settledFleet(1, { nodeReadiness: "Condition" });
    await fleet.run(100_000);
    const before = fleet.writesOf("nodes");
    for (let i = 0; i < 100; i += 1) {
      const [status, reason] = i % 2 === 0 ? (["False", "SourceNotFound"] as const) : (["True", "Mounted"] as const);
      fleet.failures.set("n0", { conditions: [condition("Ready", status, reason, `attempt ${i}`)] });
      await fleet.run(1_000);
    }
    expect(fleet.writesOf("nodes") - before).to.be.within(18, 21);
    fleet.failures.clear();
    await fleet.run(20_000);
    expect(shown(fleet)).to.deep.equal(["True/AllReady"]);
  });

  it("all of it goes with the set's wish, and with the set", async () => {
    const fleet = await settledFleet(1, { nodeReadiness: "Taint" });
    fleet.set("a", { nodeReadiness: "Ignored" });
    await fleet.run(2_000);
    expect(shown(fleet)).to.deep.equal([]);
    fleet.set("a", { nodeReadiness: "Taint" });
    await fleet.run(2_000);
    fleet.agents.clear();
    fleet.api.remove("nodevolumesets", "a");
    await fleet.run(2_000);
    expect(shown(fleet)).to.deep.equal([]);
  });
});
