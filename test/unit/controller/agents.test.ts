import { expect } from "chai";
import type { KubeObject } from "../../../src/api/meta.ts";
import { agentState, createAgentLeases } from "../../../src/controller/agents/agent-leases.ts";
import { agentStatePatch } from "../../../src/controller/agents/agent-lost.ts";
import type { Intent } from "../../../src/controller/model/projections.ts";
import {
  decideNodeState,
  type NodeStateDeps,
  reconcileNodeState,
} from "../../../src/controller/reconcilers/node-state-reconciler.ts";
import type { Lease } from "../../../src/kube/leases/lease.ts";
import { createObjectStore } from "../../../src/kube/watch/object-store.ts";
import { virtualSystem } from "../kube/virtual-system.ts";
import { condition, setEntry } from "./objects.ts";
import { oneNode } from "./one-node.ts";

describe("createAgentLeases", () => {
  function story() {
    const system = virtualSystem();
    const leases = createObjectStore<Lease>(system);
    const nodes = createObjectStore<KubeObject>(system);
    const agents = createAgentLeases({ clock: system.clock, leases, nodes, namespace: "ns" });
    let version = 10;
    const next = () => {
      version += 1;
      return String(version);
    };
    const renew = (renewTime: string, leaseDurationSeconds = 180) =>
      leases.upsert({
        metadata: { name: "n1", namespace: "ns", uid: "u", resourceVersion: next() },
        spec: { holderIdentity: "n1", leaseDurationSeconds, renewTime },
      });
    const node = () => nodes.upsert({ metadata: { name: "n1", uid: "u", resourceVersion: next() } });
    const removeNode = () => nodes.delete({ metadata: { name: "n1", uid: "u", resourceVersion: next() } });
    const connected = (is: boolean) => {
      leases.setConnected(is);
      nodes.setConnected(is);
    };
    connected(true);
    return { system, leases, agents, renew, node, removeNode, connected };
  }

  it("a Lease runs out by our own clock, from when we first saw its renewal", async () => {
    const { system, agents, renew } = story();
    renew("1999-01-01T00:00:00Z");
    expect(agents.of("n1").state).to.equal("unknown");
    await system.advance(179_999);
    expect(agents.of("n1")).to.deep.equal({ state: "unknown", expiredForMs: -1 });
    await system.advance(1);
    expect(agents.of("n1")).to.deep.equal({ state: "lost", expiredForMs: 0 });
  });

  it("runs out after our time, whatever the Lease of a node that was taken over says", async () => {
    const { system, agents, renew } = story();
    renew("a", 2_147_483_647);
    await system.advance(180_000);
    expect(agents.of("n1")).to.deep.equal({ state: "lost", expiredForMs: 0 });
  });

  it("a renewal that we have seen makes it live", async () => {
    const { system, agents, renew } = story();
    renew("a");
    await system.advance(60_000);
    renew("b");
    expect(agents.of("n1")).to.deep.equal({ state: "live", expiredForMs: -180_000 });
    await system.advance(200_000);
    expect(agents.of("n1").state).to.equal("lost");
    renew("c");
    expect(agents.of("n1").state).to.equal("live");
  });

  it("another change of the Lease is no renewal", async () => {
    const { system, agents, renew } = story();
    renew("a");
    await system.advance(100_000);
    renew("a");
    expect(agents.of("n1").expiredForMs).to.equal(-80_000);
  });

  it("no Lease at all counts from when that was noticed", async () => {
    const { system, agents, renew } = story();
    expect(agents.of("n1").state).to.equal("unknown");
    await system.advance(180_000);
    expect(agents.of("n1").state).to.equal("lost");
    renew("a");
    expect(agents.of("n1").state).to.equal("live");
  });

  it("goes by the duration that the Lease names", async () => {
    const { system, agents, renew } = story();
    renew("a", 10);
    await system.advance(10_000);
    expect(agents.of("n1").state).to.equal("lost");
  });

  it("an outage in which nobody could be heard declares nobody lost", async () => {
    const { system, agents, renew, connected } = story();
    renew("a");
    renew("b");
    await system.advance(100_000);
    connected(false);
    await system.advance(3_600_000);
    expect(agents.of("n1").state).to.equal("live");
    connected(true);
    expect(agents.of("n1")).to.deep.equal({ state: "live", expiredForMs: -180_000 });
    await system.advance(180_000);
    expect(agents.of("n1").state).to.equal("lost");
  });

  it("that we watch again is no renewal, and one that came meanwhile is as old as the outage", async () => {
    const { system, agents, renew, connected } = story();
    const renewedForMs = () => agents.silence("n1").renewedForMs;
    renew("a");
    expect(renewedForMs(), "what was there at first").to.equal(undefined);
    await system.advance(10_000);
    renew("b");
    await system.advance(10_000);
    expect(renewedForMs()).to.equal(10_000);
    connected(false);
    await system.advance(3_600_000);
    connected(true);
    expect(agents.silence("n1")).to.deep.include({ silentForMs: -180_000, renewedForMs: 3_610_000 });
    renew("c");
    expect(renewedForMs(), "written at any time of the outage").to.equal(3_600_000);
    renew("d");
    expect(renewedForMs()).to.equal(0);
  });

  it("is late a minute after a renewal was first seen, by our own clock; without a Lease nobody is expected", async () => {
    const { system, agents, renew, connected } = story();
    const late = () => [agents.lateForMs("n1"), agentState(agents, "n1")];
    expect(late()).to.deep.equal([undefined, "unknown"]);
    renew("a");
    await system.advance(30_000);
    renew("b");
    await system.advance(59_999);
    expect(late()).to.deep.equal([-1, "live"]);
    await system.advance(1);
    expect(late()).to.deep.equal([0, "late"]);
    expect(agents.of("n1"), "nothing else has changed").to.deep.equal({ state: "live", expiredForMs: -120_000 });
    await system.advance(120_000);
    expect(late()).to.deep.equal([120_000, "lost"]);
    renew("c");
    expect(late()).to.deep.equal([-60_000, "live"]);
    await system.advance(50_000);
    connected(false);
    await system.advance(3_600_000);
    connected(true);
    expect(late(), "an outage in which nobody could be heard").to.deep.equal([-60_000, "live"]);
  });

  it("lostForMs: the shorter of no Node and no sign of life", async () => {
    const { system, agents, renew, node, removeNode, connected } = story();
    renew("a");
    node();
    await system.advance(1_000_000);
    expect(agents.lostForMs("n1")).to.equal(0);
    removeNode();
    await system.advance(5_000);
    expect(agents.lostForMs("n1")).to.equal(5_000);
    connected(false);
    await system.advance(1_000_000);
    connected(true);
    expect(agents.lostForMs("n1")).to.equal(0);
    await system.advance(190_000);
    expect(agents.lostForMs("n1")).to.equal(10_000);
    node();
    expect(agents.lostForMs("n1")).to.equal(0);
  });

  it("lostForMs: a Node that was gone before we began counts from when it was asked for", async () => {
    const { system, agents } = story();
    expect(agents.lostForMs("n1")).to.equal(0);
    await system.advance(180_000 + 7);
    expect(agents.lostForMs("n1")).to.equal(7);
  });
});

describe("agentStatePatch", () => {
  const now = 1_700_000_000_000;
  const lost = { life: { state: "lost" as const, expiredForMs: 5_000 }, nodeExists: true };
  const live = { life: { state: "live" as const, expiredForMs: -1 }, nodeExists: true };
  const unknown = { life: { state: "unknown" as const, expiredForMs: -1 }, nodeExists: true };

  function intent(change: (intent: Intent) => void = () => {}): Intent {
    const world = oneNode([setEntry("a")]);
    world.settle();
    world.agent();
    const made = world.intent("share");
    change(made);
    return made;
  }
  const patched = (before: Intent, facts: Parameters<typeof agentStatePatch>[1]) => {
    const patch = agentStatePatch(before, facts, now);
    return intent((i) => Object.assign(i.status, before.status, patch));
  };

  it("says Lost and Ready=Unknown, and leaves the other conditions", () => {
    const before = intent((i) => i.status.conditions?.push(condition("Mounted", "True", "Mounted")));
    const patch = agentStatePatch(before, lost, now);
    expect(patch?.agentState).to.deep.equal({ state: "Lost", since: "2023-11-14T22:13:15Z" });
    expect(patch?.conditions?.map((c) => `${c.type}=${c.status}/${c.reason}`)).to.deep.equal([
      "Ready=Unknown/AgentLost",
      "Mounted=True/Mounted",
    ]);
    expect(Object.keys(patch ?? {}).sort()).to.deep.equal(["agentState", "conditions"]);
  });

  it("says it once", () => {
    expect(agentStatePatch(patched(intent(), lost), lost, now + 60_000)).to.equal(undefined);
  });

  it("says NodeLost once the Node is gone, without another since", () => {
    const gone = { ...lost, nodeExists: false };
    const patch = agentStatePatch(patched(intent(), lost), gone, now + 60_000);
    expect(patch?.conditions?.[0]?.reason).to.equal("NodeLost");
    expect(patch?.agentState?.since).to.equal("2023-11-14T22:13:15Z");
    expect(agentStatePatch(patched(patched(intent(), lost), gone), gone, now)).to.equal(undefined);
  });

  it("says Live when a renewal was seen, and leaves Ready to the agent", () => {
    const patch = agentStatePatch(patched(intent(), lost), live, now);
    expect(patch).to.deep.equal({ agentState: { state: "Live", since: "2023-11-14T22:13:20Z" } });
    expect(agentStatePatch(intent(), live, now)).to.equal(undefined);
  });

  it("says nothing of an agent that it has not watched long enough", () => {
    expect(agentStatePatch(intent(), unknown, now)).to.equal(undefined);
    expect(agentStatePatch(patched(intent(), lost), unknown, now)).to.equal(undefined);
  });

  it("does not argue with an agent that writes although its Lease is not renewed", () => {
    const writing = patched(intent(), lost);
    writing.status.conditions = [condition("Ready", "True", "Mounted")];
    expect(agentStatePatch(writing, lost, now)).to.equal(undefined);
  });
});

describe("decideNodeState", () => {
  const cases: [boolean, boolean, boolean, string][] = [
    [false, true, false, "create"],
    [true, true, false, "nothing"],
    [true, false, true, "nothing"],
    [true, false, false, "delete"],
    [false, false, true, "nothing"],
    [false, false, false, "nothing"],
  ];
  for (const [state, node, intents, expected] of cases) {
    it(`state ${state}, node ${node}, intents ${intents}: ${expected}`, () => {
      expect(decideNodeState({ state, node, intents })).to.equal(expected);
    });
  }
});

describe("reconcileNodeState", () => {
  it("deletes that very version of a state which was decided on", async () => {
    const deleted: unknown[] = [];
    const deps = {
      client: { delete: async (_: unknown, ref: unknown) => void deleted.push(ref) },
      log: virtualSystem().log,
      complete: () => true,
      state: () => ({ metadata: { name: "n1", uid: "u", resourceVersion: "7" }, status: {}, index: "" }),
      hasNode: () => false,
      intentsOf: () => [],
      lease: () => undefined,
    } as unknown as NodeStateDeps;
    await reconcileNodeState(deps, "n1");
    expect(deleted).to.deep.equal([{ name: "n1", uid: "u", resourceVersion: "7" }]);
  });
});
