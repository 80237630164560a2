import { expect } from "chai";
import { Registry } from "prom-client";
import { AgentMetrics } from "../../../../src/agent/metrics/agent-metrics.ts";
import { asMountPath, asVolumeName } from "../../../../src/agent/model/identities.ts";
import type { Action, OperationKind } from "../../../../src/agent/model/operation.ts";
import { mounted, planWorld, record, staged, volume, wanted } from "../../../lib/builders/plan-world.ts";

/** One action of each kind: does not compile when a kind is missing. */
const actions: { readonly [K in OperationKind]: Extract<Action, { kind: K }> } = {
  stage: { kind: "stage" },
  refresh: { kind: "refresh" },
  reconfigure: { kind: "reconfigure", mountID: 1 },
  publish: { kind: "publish", path: asMountPath("/a") },
  adopt: { kind: "adopt", path: asMountPath("/a"), mountID: 1 },
  note: { kind: "note", path: asMountPath("/a"), mountID: 1 },
  setAttributes: { kind: "setAttributes", path: asMountPath("/a"), mountID: 1 },
  claim: { kind: "claim" },
  unpublish: { kind: "unpublish", path: asMountPath("/a"), unmountMode: "Normal" },
  unstage: { kind: "unstage", unmountMode: "Normal" },
  recover: { kind: "recover" },
  republish: { kind: "republish", path: asMountPath("/a") },
  expand: { kind: "expand" },
  retain: { kind: "retain" },
  forget: { kind: "forget" },
  observe: { kind: "observe" },
};

describe("AgentMetrics", () => {
  it("counts each kind of operation under its own name, with plugin and outcome", async () => {
    const registry = new Registry();
    const metrics = new AgentMetrics(registry);
    metrics.planned(planWorld({ intents: [wanted()], records: [record()], mounts: [staged] }), undefined);
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

  it("orphans are counted by reason: what is left on purpose is no alarm, what is about to be forgotten none either", async () => {
    const registry = new Registry();
    const metrics = new AgentMetrics(registry);
    const { stage: _stage, ...nothing } = record({ name: asVolumeName("nothing"), key: "other", targets: [] });
    const records = [record(), record({ name: asVolumeName("kept"), retained: true }), nothing];
    const text = async (synced: boolean) => {
      metrics.planned(planWorld({ records, mounts: [staged, mounted], input: { synced } }), undefined);
      return (await registry.metrics()).split("\n").filter((line) => line.startsWith("nodevolume_agent_orphans{"));
    };
    expect(await text(true)).to.deep.equal([
      'nodevolume_agent_orphans{reason="UnexplainedRemoval"} 1',
      'nodevolume_agent_orphans{reason="Retained"} 1',
    ]);
    expect(
      (await text(false)).map((line) => line.slice(-1)),
      "before the intents were read",
    ).to.deep.equal(["0", "0"]);
  });

  it("counts volumes by state of world, and what is missing or extra, under kubelet's names", async () => {
    const registry = new Registry();
    const metrics = new AgentMetrics(registry);
    const missing = { intents: [wanted()], records: [record()], mounts: [staged] };
    metrics.planned(planWorld(missing), undefined);
    const text = await registry.metrics();
    expect(text).to.match(/volume_manager_total_volumes\{.*state="desired_state_of_world".*\} 1/);
    expect(text).to.match(/volume_manager_total_volumes\{.*state="actual_state_of_world".*\} 1/);
    expect(text).to.contain('volume_manager_state_diff{direction="missing"} 1');
  });
});
