import { expect } from "chai";
import { Registry } from "prom-client";
import { AgentMetrics } from "../../../src/agent/metrics/agent-metrics.ts";
import { MountTable } from "../../../src/host/mount-table/mount-table.ts";
import { mounted, record, staged, volume } from "../../lib/builders/plan-world.ts";
import { FakeAgent } from "./fake-agent.ts";

const minute = 60_000;

describe("Loop, every five minutes", () => {
  let agent: FakeAgent;
  beforeEach(async () => {
    agent = await FakeAgent.start();
    const table = new MountTable([...agent.host.entries, staged, mounted]);
    Object.assign(agent.host.mountTable, { read: async () => table }); // the very same, as a kept table is
    await agent.journal.put(record());
    await agent.look();
  });
  afterEach(() => agent.loop.stop());

  const targets = () => agent.plan?.volumes.get(volume)?.actualState.targets.length;
  const warnings = () => agent.system.lines.filter(({ level }) => level === "warn");

  /** A record is changed in place, which it must never be: the planner cannot know. */
  const changeUnseen = () =>
    Object.assign(agent.journal.records.get(volume) ?? expect.fail("no record"), { targets: [] });

  it("heals a plan that was out of date though nothing had told so, warns of it, and counts it", async () => {
    const registry = new Registry();
    const metrics = new AgentMetrics(registry);
    expect(targets()).to.equal(1);
    changeUnseen();
    await agent.system.advance(4 * minute);
    expect(targets(), "not planned anew").to.equal(1);
    let unexplained: readonly string[] | undefined;
    for (let i = 0; i < 2 && unexplained === undefined; i += 1) {
      await agent.system.advance(minute);
      unexplained = agent.plan?.unexplained;
    }
    expect(unexplained).to.deep.equal([volume]);
    expect(targets()).to.equal(0);
    expect(agent.plan?.changed.get(volume)?.actualState.targets, "with the plan that it had").to.have.length(1);
    expect(warnings().map(({ meta }) => meta)).to.deep.equal([{ volumes: 1, first: volume }]);
    if (agent.plan !== undefined) metrics.planned(agent.plan, undefined);
    expect(await registry.metrics()).to.include("nodevolume_agent_plans_unexplained_total 1");
  });

  it("says nothing when everything is as it was planned", async () => {
    await agent.system.advance(30 * minute);
    expect(warnings()).to.deep.equal([]);
    expect(agent.plan?.changed.size).to.equal(0);
  });
});
