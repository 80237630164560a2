import { expect } from "chai";
import { Registry } from "prom-client";
import { registerMountTableMetrics } from "../../../../src/agent/metrics/mount-table-metrics.ts";
import type { MountTableSource, MountTableStatus } from "../../../../src/host/mount-table/mount-table-source.ts";
import { FakeHost } from "../fake-host.ts";

const source = (status: MountTableStatus): MountTableSource => ({
  ...new FakeHost().mountTable,
  status: () => status,
});

describe("registerMountTableMetrics", () => {
  it("says how each table is kept, and what went wrong", async () => {
    const registry = new Registry();
    const mountTable = source({ tier: "fanotify", resyncs: 3, overflows: 1, unannounced: 2, demotions: 1 });
    const nodeTable = source({ tier: "mountinfo", resyncs: 0, overflows: 0, unannounced: 0, demotions: 0 });
    registerMountTableMetrics(registry, { mountTable, nodeTable }, { unwatched: () => ["node"] });
    await registry.metrics();
    const text = await registry.metrics(); // asked twice, and not counted twice
    expect(text).to.include('nodevolume_agent_mount_table_tier{table="agent",tier="fanotify"} 1');
    expect(text).to.include('nodevolume_agent_mount_table_tier{table="node",tier="mountinfo"} 1');
    expect(text).to.include('nodevolume_agent_mount_table_unwatched{table="node"} 1');
    expect(text).to.not.include('unwatched{table="agent"}');
    expect(text).to.include('nodevolume_agent_mount_table_resyncs_total{table="agent"} 3');
    expect(text).to.include('nodevolume_agent_mount_table_overflows_total{table="agent"} 1');
    expect(text).to.include('nodevolume_agent_mount_table_unannounced_total{table="agent"} 2');
    expect(text).to.include('nodevolume_agent_mount_table_demotions_total{table="agent"} 1');
  });

  it("says nothing of a table that was not read yet, or does not tell", async () => {
    const registry = new Registry();
    const mountTable = source({ tier: undefined, resyncs: 0, overflows: 0, unannounced: 0, demotions: 0 });
    registerMountTableMetrics(registry, { mountTable }, { unwatched: () => [] });
    expect(await registry.metrics()).to.not.include("tier=");
    const silent = new Registry();
    registerMountTableMetrics(silent, { mountTable: new FakeHost().mountTable }, { unwatched: () => [] });
    expect(await silent.metrics()).to.not.include("table=");
  });
});
