import { expect } from "chai";
import { NodeStateReporter } from "../../../src/agent/node-state.ts";
import { createKubeClient } from "../../../src/kube/client.ts";
import { planWorld } from "../../lib/plan-world.ts";
import { createFakeApiServer } from "../fake-api-server.ts";
import { virtualSystem } from "../kube/virtual-system.ts";

describe("NodeStateReporter", () => {
  async function story() {
    const system = virtualSystem();
    const api = createFakeApiServer(system.timers);
    api.apply("nodevolumestates", { metadata: { name: "n1" } });
    const reporter = new NodeStateReporter({
      system,
      transport: api,
      client: createKubeClient({ transport: api, fieldManager: "agent" }),
      nodeName: "n1",
      stateDir: "/var/lib/nodevolume",
      csiDir: "/csi",
      agent: { version: "1", bootID: "boot-1", epoch: 1 },
      synced: () => true,
    });
    reporter.start();
    await system.advance(10);
    reporter.update(planWorld({}), undefined);
    await system.advance(10_000);
    const conditions = () => {
      const status = api.object("nodevolumestates", "n1")?.status as { conditions: { type: string; status: string }[] };
      return status.conditions.map(({ type, status: is }) => `${type}=${is}`);
    };
    return { system, api, conditions, writes: () => api.writes.length };
  }

  it("takes back what the controller said while it was not heard, without being told anything new", async () => {
    const { system, api, conditions } = await story();
    const own = conditions();
    const lost = ["Ready", "Drained"].map((type) => ({ type, status: "Unknown", reason: "AgentLost", message: "m" }));
    api.patch("nodevolumestates", "n1", { status: { conditions: lost } }, "status");
    await system.advance(6_000);
    expect(conditions()).to.deep.equal(own);
  });

  it("writes nothing while nothing changes", async () => {
    const { system, writes } = await story();
    const before = writes();
    await system.advance(60_000);
    expect(writes()).to.equal(before);
  });
});
