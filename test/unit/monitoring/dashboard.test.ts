import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { Registry } from "prom-client";
import { FakeApi } from "../../../hack/lib/agent-on-kernel/fake-api.ts";
import { root } from "../../../hack/lib/root.ts";
import { noDrivers } from "../../../src/agent/csi/no-drivers.ts";
import { startAgent } from "../../../src/agent/start.ts";
import { createMetrics, type MetricSources } from "../../../src/controller/metrics.ts";
import { FakeHost } from "../agent/fake-host.ts";
import { virtualSystem } from "../kube/virtual-system.ts";

const textOf = (name: string) => readFileSync(join(root, "config/components/monitoring", name), "utf8");

describe("dashboard", () => {
  it("and alerts ask for what agents and controllers have, and nothing else", async () => {
    const registry = new Registry();
    const none = () => new Map();
    const sources: MetricSources = {
      ...{ intentsByState: none, nodeReadiness: none, agentsByState: none, queueDepths: none, setNodes: () => [] },
      ...{ sets: () => 0, pods: () => 0, isLeader: () => true, policiesMissing: () => false },
    };
    createMetrics(registry, sources);
    const agent = await startAgent({
      ...{ system: virtualSystem(), transport: new FakeApi(), host: new FakeHost(), drivers: noDrivers, registry },
      ...{ nodeName: "node", version: "test" },
      settings: { allowedPrefixes: ["/mnt"], stateDir: "/state", hostRoot: "/", csiDir: "/csi" },
    });
    const ofPods = /"(nodevolume_pod_driver_\w+)"/g; // those need a kubelet's directories to be there
    const source = readFileSync(join(root, "src/agent/csi/start-pod-driver.ts"), "utf8");
    const there = registry.getMetricsAsArray().map(({ name }) => name);
    there.push(...[...source.matchAll(ofPods)].map(([, name = ""]) => name));
    await agent.stop();
    const text = textOf("nodevolume.json") + textOf("rules.yaml");
    const asked = text.match(/\b(nodevolume_(agent|controller|pod_driver)|volume_manager)_\w+/g) ?? [];
    expect(asked.length).to.be.greaterThan(40);
    for (const name of new Set(asked)) expect(there).to.include(name.replace(/_bucket$/, ""), name);
  });

  it("says of each panel what it shows and in which unit, by a source that can be chosen, and none hides another", () => {
    const { panels } = JSON.parse(textOf("nodevolume.json")) as { panels: readonly Panel[] };
    const taken = new Set<string>();
    for (const { title, description, datasource, fieldConfig, gridPos, targets } of panels) {
      expect(description, title).to.be.a("string").that.is.not.empty;
      expect(fieldConfig.defaults.unit, title).to.be.a("string");
      for (const { uid } of [datasource, ...targets.map((target) => target.datasource)])
        expect(uid).to.equal("$" + "{datasource}");
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1)
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
          expect(taken.has(`${x} ${y}`), `${title} lies on another`).to.equal(false);
          taken.add(`${x} ${y}`);
        }
    }
  });
});

interface Panel {
  readonly title: string;
  readonly description?: string;
  readonly datasource: { readonly uid: string };
  readonly fieldConfig: { readonly defaults: { readonly unit?: string } };
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets: readonly { readonly datasource: { readonly uid: string } }[];
}
