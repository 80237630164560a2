import { Counter, type Registry } from "prom-client";
import type { HostPorts } from "../../host/ports/host-ports.ts";
import { sampledGauge } from "./sampled-gauge.ts";

/** How the agent's mount table and the node's are kept; computed when they are asked for. */
export function registerMountTableMetrics(
  registry: Registry,
  host: Pick<HostPorts, "mountTable" | "nodeTable">,
  watches: { unwatched(): readonly string[] },
): void {
  const tables = { agent: host.mountTable, node: host.nodeTable };
  const statuses = () =>
    Object.entries(tables).flatMap(([table, source]) => {
      const status = source?.status?.();
      return status === undefined ? [] : [{ table, ...status }];
    });
  const tier = {
    name: "nodevolume_agent_mount_table_tier",
    help: "1 for the way in which the mount table is kept: fanotify or mountinfo.",
    labelNames: ["table", "tier"],
  };
  sampledGauge(registry, tier, () =>
    statuses().flatMap(({ table, tier }) => (tier === undefined ? [] : [{ labels: { table, tier }, value: 1 }])),
  );
  const unwatched = {
    name: "nodevolume_agent_mount_table_unwatched",
    help: "1 for a mount table that the agent cannot watch: it polls every ten seconds.",
    labelNames: ["table"],
  };
  sampledGauge(registry, unwatched, () => watches.unwatched().map((table) => ({ labels: { table }, value: 1 })));
  const counts = [
    ["resyncs", "Comparisons of the whole mount table with the kernel's that nothing requested."],
    ["overflows", "Times that the kernel dropped events of mounts, and the whole table was read anew."],
    ["unannounced", "Differences that a comparison found, and that no event had reported."],
    ["demotions", "Times that a way of keeping the mount table which had worked was left for a worse one."],
  ] as const;
  for (const [count, help] of counts) {
    new Counter({
      name: `nodevolume_agent_mount_table_${count}_total`,
      help,
      labelNames: ["table"],
      registers: [registry],
      collect() {
        this.reset();
        for (const status of statuses()) this.inc({ table: status.table }, status[count]);
      },
    });
  }
}
