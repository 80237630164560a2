import { expect } from "chai";
import { Registry } from "prom-client";
import { FakeApi } from "../../../hack/lib/agent-on-kernel/fake-api.ts";
import { silent } from "../../../hack/lib/silent-log.ts";
import { until } from "../../../hack/lib/until.ts";
import { noDrivers } from "../../../src/agent/csi/no-drivers.ts";
import { startAgent } from "../../../src/agent/start.ts";
import { realSystem } from "../../../src/system.ts";
import { FakeHost } from "./fake-host.ts";

describe("startAgent", () => {
  it("starts where the mount table cannot be watched, and its metrics say so", async () => {
    const host = new FakeHost();
    const full = () => {
      throw Object.assign(new Error("EMFILE"), { code: "EMFILE" });
    };
    const registry = new Registry();
    const agent = await startAgent({
      system: realSystem(silent),
      transport: new FakeApi(),
      host: Object.assign(host, { mountTable: { ...host.mountTable, watch: full } }),
      drivers: noDrivers,
      nodeName: "node",
      version: "test",
      settings: { allowedPrefixes: ["/mnt"], stateDir: "/state", hostRoot: "/", csiDir: "/csi" },
      registry,
    });
    await until("the agent to be ready", 10_000, () => agent.ready() && host.reads > 0);
    expect(await registry.metrics()).to.include('nodevolume_agent_mount_table_unwatched{table="agent"} 1');
    await agent.stop();
  });
});
