import { expect } from "chai";
import { Registry } from "prom-client";
import { FakeApi } from "../../../hack/lib/agent-on-kernel/fake-api.ts";
import { noDrivers } from "../../../hack/lib/no-drivers.ts";
import { silent } from "../../../hack/lib/silent-log.ts";
import { until } from "../../../hack/lib/until.ts";
import { startAgent } from "../../../src/agent/start.ts";
import type { NodeVolumeStateStatus } from "../../../src/api/types.gen.ts";
import { realSystem } from "../../../src/system.ts";
import { wanted } from "../../lib/builders/plan-world.ts";
import type { FakeObject } from "../fake-api-objects.ts";
import { createFakeApiServer } from "../fake-api-server.ts";
import { virtualSystem } from "../kube/virtual-system.ts";
import { applyPolicies } from "../shipped-policies.ts";
import { FakeHost } from "./fake-host.ts";

const parts = () => ({
  system: realSystem(silent),
  transport: new FakeApi(),
  host: new FakeHost(),
  drivers: noDrivers,
  nodeName: "node",
  version: "test",
  settings: { allowedPrefixes: ["/mnt"], stateDir: "/state", hostRoot: "/", csiDir: "/csi" },
  registry: new Registry(),
});

describe("startAgent", () => {
  it("does not call a node drained while the index names an intent that cannot be read", async () => {
    const system = virtualSystem();
    const api = createFakeApiServer(system.timers);
    api.apply("nodevolumestates", { metadata: { name: "node" }, spec: { intents: [] } });
    let refused = true;
    api.fault = ({ path }) =>
      refused && path.endsWith("/nodevolumeintents/a") ? { status: 403, message: "planned fault" } : undefined;
    const drained = () => {
      const { conditions = [] } = (api.object("nodevolumestates", "node")?.["status"] ?? {}) as NodeVolumeStateStatus;
      return conditions.find(({ type }) => type === "Drained")?.status;
    };
    const agent = await startAgent({ ...parts(), system, transport: api, intents: "Index" });
    const soon = 20_000; // a status is written once in five seconds
    await system.advance(soon);
    expect(drained(), "an empty node").to.equal("True");
    api.patch("nodevolumestates", "node", { spec: { intents: [{ name: "a", uid: "u", generation: 1 }] } });
    await system.advance(soon);
    expect(drained()).to.equal("False");
    refused = false; // nothing is there of that name: a read says so, and the index that names it was wrong
    await system.advance(130_000);
    expect(drained()).to.equal("True");
    await agent.stop();
  });

  it("mends a status that others wrote while no policy kept them, within minutes, also where it goes by an index", async () => {
    const system = virtualSystem();
    const api = createFakeApiServer(system.timers);
    applyPolicies(api);
    // Until then the API server in memory lets everything through, as one without the policy.
    const guard = () => {
      const denied = { status: 403, message: "ValidatingAdmissionPolicy 'nodevolume-agents' denied request" };
      api.fault = ({ method, path, query }) =>
        method === "POST" && path.includes("/leases") && query?.["dryRun"] !== undefined ? denied : undefined;
    };
    const { status: _, ...intent } = wanted();
    api.apply("nodevolumeintents", {
      ...intent,
      ...{ metadata: { name: "a" }, spec: { ...intent.spec, nodeName: "node" } },
    } as unknown as FakeObject);
    const { uid, generation } = api.object("nodevolumeintents", "a")?.metadata ?? {};
    api.apply("nodevolumestates", { metadata: { name: "node" }, spec: { intents: [{ name: "a", uid, generation }] } });
    const state = () => (api.object("nodevolumeintents", "a")?.status as { state?: string } | undefined)?.state;
    const agent = await startAgent({ ...parts(), system, transport: api, intents: "Index", watchPolicy: true });
    await system.advance(20_000);
    const own = state();
    expect(own).to.be.a("string").and.not.equal("Released");
    api.patch("nodevolumeintents", "a", { status: { state: "Released" } }, "status");
    await system.advance(120_000);
    expect(state(), "nothing tells of it").to.equal("Released");
    guard();
    await system.advance(66_000 + 120_000 + 10_000);
    expect(state()).to.equal(own);
    await agent.stop();
  });

  it("starts where the mount table cannot be watched, and its metrics say so", async () => {
    const host = new FakeHost();
    const full = () => {
      throw Object.assign(new Error("EMFILE"), { code: "EMFILE" });
    };
    const registry = new Registry();
    const deaf = Object.assign(host, { mountTable: { ...host.mountTable, watch: full } });
    const agent = await startAgent({ ...parts(), host: deaf, registry });
    await until("the agent to be ready", 10_000, () => agent.ready() && host.reads > 0);
    expect(await registry.metrics()).to.include('nodevolume_agent_mount_table_unwatched{table="agent"} 1');
    await agent.stop();
  });
});
