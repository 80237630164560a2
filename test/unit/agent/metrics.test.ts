import { expect } from "chai";
import { Registry } from "prom-client";
import { AgentMetrics } from "../../../src/agent/metrics.ts";
import type { Action, OperationKind } from "../../../src/agent/operations.ts";
import { planWorld, record, staged, volume, wanted } from "../../lib/plan-world.ts";

/** One action of each kind: does not compile when a kind is missing. */
const actions: { readonly [K in OperationKind]: Extract<Action, { kind: K }> } = {
  stage: { kind: "stage" },
  refresh: { kind: "refresh" },
  reconfigure: { kind: "reconfigure", mountID: 1 },
  publish: { kind: "publish", path: "/a" },
  adopt: { kind: "adopt", path: "/a", mountID: 1 },
  note: { kind: "note", path: "/a", mountID: 1 },
  setAttributes: { kind: "setAttributes", path: "/a", mountID: 1 },
  claim: { kind: "claim" },
  unpublish: { kind: "unpublish", path: "/a", rung: "Normal" },
  unstage: { kind: "unstage", rung: "Normal" },
  retain: { kind: "retain" },
  forget: { kind: "forget" },
  observe: { kind: "observe" },
};

describe("AgentMetrics", () => {
  it("counts each kind of operation under its own name, with plugin and outcome", async () => {
    const registry = new Registry();
    const metrics = new AgentMetrics(registry);
    metrics.plan(planWorld({ intents: [wanted()], records: [record()], mounts: [staged] }), undefined);
    for (const action of Object.values(actions)) {
      metrics.operation({ volume, ...action }, "success", 3);
      metrics.operation({ volume, ...action }, "uncertain", 120_000);
    }
    const text = await registry.metrics();
    for (const kind of Object.keys(actions)) {
      for (const status of ["success", "uncertain"]) {
        const labels = `{operation="${kind}",plugin="emptyDir",status="${status}"}`;
        expect(text).to.contain(`volume_manager_operations_total${labels} 1`);
      }
      const labels = `{operation="${kind}",plugin="emptyDir"}`;
      expect(text).to.contain(`volume_manager_operation_duration_seconds_count${labels} 2`);
    }
  });

  it("counts volumes by state of world, and what is missing or extra, under kubelet's names", async () => {
    const registry = new Registry();
    const metrics = new AgentMetrics(registry);
    const missing = { intents: [wanted()], records: [record()], mounts: [staged] };
    metrics.plan(planWorld(missing), undefined);
    const text = await registry.metrics();
    expect(text).to.match(/volume_manager_total_volumes\{.*state="desired_state_of_world".*\} 1/);
    expect(text).to.match(/volume_manager_total_volumes\{.*state="actual_state_of_world".*\} 1/);
    expect(text).to.contain('volume_manager_state_diff{direction="missing"} 1');
  });
});
