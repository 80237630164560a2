import { expect } from "chai";
import { watchOwnState } from "../../../../src/agent/desired/own-state.ts";
import { HealthChecks } from "../../../../src/agent/health/health-checks.ts";
import { NodeStateReporter } from "../../../../src/agent/status/node-state-reporter.ts";
import { createKubeClient } from "../../../../src/kube/client/client.ts";
import { followPolicies } from "../../../../src/kube/policies/follow-policies.ts";
import { bindingsOfAgent } from "../../../../src/kube/policies/policies.ts";
import { planWorld } from "../../../lib/builders/plan-world.ts";
import { createFakeApiServer } from "../../fake-api-server.ts";
import { virtualSystem } from "../../kube/virtual-system.ts";
import { applyPolicies, shipped } from "../../shipped-policies.ts";

describe("NodeStateReporter", () => {
  async function story({ watchPolicy = false, guarded = false } = {}) {
    const system = virtualSystem();
    const api = createFakeApiServer(system.timers);
    applyPolicies(api);
    const denied = { status: 403, message: "ValidatingAdmissionPolicy 'nodevolume-agents' denied request" };
    const refuseLeases = () => {
      api.fault = ({ method, path }) => (method === "POST" && path.includes("/leases") ? denied : undefined);
    };
    if (guarded) refuseLeases();
    const healthChecks = new HealthChecks(system.clock);
    api.apply("nodevolumestates", { metadata: { name: "n1" } });
    const told: string[] = [];
    let right = 0;
    const reporter = new NodeStateReporter({
      system,
      states: watchOwnState({ system, transport: api, nodeName: "n1" }),
      client: createKubeClient({ transport: api, fieldManager: "agent" }),
      nodeName: "n1",
      settings: { stateDir: "/var/lib/nodevolume", csiDir: "/csi", hostRoot: "/" },
      agent: { version: "1", bootID: "boot-1", epoch: 1 },
      synced: () => true,
      healthChecks,
      followPolicies: (changed) => followPolicies({ system, transport: api }, bindingsOfAgent, changed),
      onAgentsRight: () => {
        right += 1;
      },
      event: ({ reason, message }) => told.push(`${reason} ${message}`),
    });
    reporter.start({ watchPolicy });
    await system.advance(10);
    reporter.planned(planWorld({}), undefined);
    await system.advance(10_000);
    const conditions = () => {
      const status = api.object("nodevolumestates", "n1")?.status as { conditions: { type: string; status: string }[] };
      return status.conditions.map(({ type, status: is }) => `${type}=${is}`);
    };
    const counts = { writes: () => api.writes.length, right: () => right };
    return { system, api, healthChecks, refuseLeases, reporter, told, conditions, ...counts };
  }

  it("takes back what the controller said while it was not heard, without being told anything new", async () => {
    const { system, api, conditions } = await story();
    const own = conditions();
    const lost = ["Ready", "Drained"].map((type) => ({ type, status: "Unknown", reason: "AgentLost", message: "m" }));
    api.patch("nodevolumestates", "n1", { status: { conditions: lost } }, "status");
    await system.advance(6_000);
    expect(conditions()).to.deep.equal(own);
  });

  it("says that the policy of the agents is not in force, to people and on the node, until it is", async () => {
    // The API server in memory has no admission: it lets everything through.
    const { system, reporter, told, conditions, healthChecks, refuseLeases } = await story({ watchPolicy: true });
    expect(reporter.policyMissing).to.contain("does not refuse that this agent writes for another node");
    expect(healthChecks.notReady()).to.contain("does not refuse that this agent writes for another node");
    expect(conditions()).to.include("PoliciesInForce=False");
    // What the controller does about it depends on what that sees.
    expect(told.join()).to.match(/^PolicyMissing .*apply config\/policy$/);
    refuseLeases();
    await system.advance(80_000);
    expect(reporter.policyMissing).to.equal(undefined);
    expect(healthChecks.notReady()).not.to.contain("policy");
    expect(conditions().join()).not.to.include("PoliciesInForce");
    expect(told).to.have.length(1);
  });

  it("tells that the policy of the agents is right again, also if it was another one for less than a look takes", async () => {
    const { system, api, right, refuseLeases } = await story({ watchPolicy: true });
    refuseLeases();
    await system.advance(80_000);
    expect(right(), "back").to.equal(1);
    api.remove("validatingadmissionpolicybindings", "nodevolume-agents");
    api.apply(
      "validatingadmissionpolicybindings",
      shipped("ValidatingAdmissionPolicyBinding", "nodevolume-agents") as never,
    );
    await system.advance(40_000);
    expect(right(), "made anew").to.equal(2);
    await system.advance(600_000);
    expect(right()).to.equal(2);
  });

  it("is ready where somebody else refuses what the policy is tried with, and says that", async () => {
    const { system, api, reporter, healthChecks } = await story({ watchPolicy: true });
    const webhook = { status: 403, message: 'admission webhook "w" denied the request' };
    api.fault = ({ method, path }) => (method === "POST" && path.includes("/leases") ? webhook : undefined);
    await system.advance(80_000);
    expect(reporter.policyMissing).to.contain("it is unknown whether the policy").and.contain("webhook");
    expect(healthChecks.notReady()).not.to.contain("policy");
  });

  it("says soon that a policy which it rests on was changed, and is ready as long as that still refuses", async () => {
    const { system, api, reporter, conditions, healthChecks } = await story({ watchPolicy: true, guarded: true });
    expect(reporter.policyMissing).to.equal(undefined);
    const changed = shipped("ValidatingAdmissionPolicy", "nodevolume-intents");
    changed.spec.validations?.pop();
    api.apply("validatingadmissionpolicies", changed as never);
    await system.advance(25_000);
    expect(reporter.policyMissing).to.match(
      /^ValidatingAdmissionPolicy nodevolume-intents .* is not that of config\/policy/,
    );
    expect(conditions()).to.include("PoliciesInForce=False");
    expect(healthChecks.notReady()).not.to.contain("policy");
    api.remove("validatingadmissionpolicies", "nodevolume-intents");
    await system.advance(25_000);
    expect(healthChecks.notReady()).to.contain("there is no ValidatingAdmissionPolicy nodevolume-intents");
  });

  it("writes nothing while nothing changes", async () => {
    const { system, writes } = await story();
    const before = writes();
    await system.advance(60_000);
    expect(writes()).to.equal(before);
  });
});
