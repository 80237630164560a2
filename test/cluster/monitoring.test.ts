import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect } from "chai";
import { skipBecause } from "../../hack/lib/lanes/skip-reason.ts";
import { slow } from "../../hack/lib/lanes/slow.ts";
import type { RunningProcess } from "../../hack/lib/process.ts";
import { root } from "../../hack/lib/root.ts";
import { until } from "../../hack/lib/until.ts";
import { testWorld, type World } from "../lib/cluster/world.ts";
import { Prometheus } from "../lib/servers/prometheus.ts";

interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets: readonly { readonly expr: string }[] }[];
}

/** Panels that are empty unless something has gone wrong that this cluster has not. */
const emptyWhenWell: readonly string[] = ["Operations that fail", "Drift"];

describe("a Prometheus that scrapes controller and agents by the component monitoring", () => {
  let world: World;
  /** As an agent with a claim of a CSI driver, which would speak for another node. */
  let claims: Server;
  before(async function () {
    world = await testWorld(this);
    claims = createServer((_, response) => {
      const of = (name: string, value: number) =>
        `kubelet_volume_stats_${name}{namespace="shop",persistentvolumeclaim="data",node="other"} ${value}\n`;
      response.setHeader("content-type", "text/plain; version=0.0.4");
      response.end(of("available_bytes", 1) + of("capacity_bytes", 100) + of("used_bytes", 99));
    });
    claims.listen(0, "127.0.0.1");
    await once(claims, "listening");
  });
  after(async () => {
    claims?.close();
    await world?.remove("seen", "unseen");
  });

  async function addressOf(process: RunningProcess): Promise<string> {
    let port: string | undefined;
    await until(`${process.name} to serve metrics`, 60_000, () => {
      const found = [...readFileSync(process.logFile, "utf8").matchAll(/"serving metrics and health".*"port":(\d+)/g)];
      port = found.at(-1)?.[1];
      return port !== undefined;
    });
    return `127.0.0.1:${port}`;
  }

  slow("gets what each panel of the dashboard asks for, and kube-prometheus' alerts see our claims", async function () {
    const source = { emptyDir: { medium: "Memory", sizeLimit: "1Mi" } };
    await world.apply("seen", { volume: { source }, mounts: [{ name: "host", path: "/mnt/nodevolume/seen" }] });
    const mounts = [{ name: "host", path: "/mnt/nodevolume/unseen" }];
    await world.apply("unseen", { volume: { source: { local: { path: "/srv/unseen" } } }, mounts });
    const reason = (name: string) =>
      world.objects.sets.get(name)?.status?.conditions?.find(({ type }) => type === "Ready")?.reason;
    await world.objects.until("one set to be ready, and another not", 60_000, () => {
      const stalled = world.objects.sets.get("unseen")?.status?.conditions?.some(({ type }) => type === "Stalled");
      return reason("seen") === "AllReady" && stalled === true;
    });
    const agents = await Promise.all(
      world.nodes.map(async ({ name, agent }) => ({
        address: await addressOf(agent),
        labels: { job: "nodevolume-agent", node: name, pod: `agent-${name}` },
      })),
    );
    const [first] = agents;
    const { port } = claims.address() as AddressInfo;
    const started = await Prometheus.start(
      first?.address ?? "",
      first?.labels ?? { job: "" },
      ...agents.slice(1),
      { address: await addressOf(world.controller), labels: { job: "nodevolume-controller", pod: "controller-0" } },
      { address: `127.0.0.1:${port}`, labels: { job: "nodevolume-agent", node: "n", namespace: "nodevolume-system" } },
    );
    if ("missing" in started) skipBecause(this, started.missing);
    await using prometheus = started;
    // A rate needs two looks.
    await until("a second look", 30_000, async () => {
      const looks = await prometheus.values("min(count_over_time(up[1m])) > 1");
      return looks.length > 0;
    });

    const text = readFileSync(join(root, "config/components/monitoring/nodevolume.json"), "utf8");
    const empty: string[] = [];
    for (const { title, targets } of (JSON.parse(text) as Dashboard).panels) {
      for (const { expr } of targets) {
        const found = await prometheus.values(expr.replaceAll("$node", ".*"));
        const mayBeEmpty = emptyWhenWell.includes(title) || / > 0\)?$/.test(expr);
        if (found.length === 0 && !mayBeEmpty) empty.push(`${title}: ${expr}`);
      }
    }
    expect(empty).to.deep.equal([]);

    const value = (query: string) => prometheus.value(query);
    expect(await value('sum(nodevolume_controller_set_ready{set="seen", reason="AllReady"})')).to.equal(1);
    expect(await value('sum(nodevolume_controller_set_nodes_failed{set="unseen"})')).to.equal(3);
    const waits = 'count(nodevolume_agent_volume_not_ready_since_timestamp_seconds{reason="SourceNotFound"})';
    expect(await value(waits), "one of each agent").to.equal(3);
    expect(await value('count(nodevolume_build_info{role="agent"})')).to.equal(3);

    // As KubePersistentVolumeFillingUp of kube-prometheus has it.
    const of = '{job="kubelet", namespace=~".*", metrics_path="/metrics"}';
    const full = await prometheus.values(
      `kubelet_volume_stats_available_bytes${of} / kubelet_volume_stats_capacity_bytes${of} < 0.03 and kubelet_volume_stats_used_bytes${of} > 0`,
    );
    const { namespace, persistentvolumeclaim, node, ...others } = full[0]?.metric ?? {};
    expect([full.length, namespace, persistentvolumeclaim, node]).to.deep.equal([1, "shop", "data", "n"]);
    expect(others).not.to.have.property("exported_namespace");
  });
});
