import { Counter, Histogram, type Registry } from "prom-client";
import type { MountTable } from "../../host/mount-table/mount-table.ts";
import { isInSync } from "../model/actual-volume.ts";
import type { Operation } from "../model/operation.ts";
import type { Plan, PlanListener, VolumePlan } from "../model/volume-plan.ts";
import { orphanReason } from "../status/orphan-reason.ts";
import { obstacleOf, summaryOf } from "../status/volume-summary.ts";
import { type Sample, sampledGauge } from "./sampled-gauge.ts";

/**
 * The agent's metrics. Names that kubelet has are kubelet's (kubelet-behaviour section 2), with its meaning; gauges are
 * computed from the newest plan when they are asked for.
 */
export class AgentMetrics implements PlanListener {
  readonly #operations: Counter<"operation" | "plugin" | "status">;
  readonly #duration: Histogram<"operation" | "plugin">;
  readonly #drifts: Counter<"class">;
  readonly #unexplained: Counter;
  #plan: Plan | undefined;
  #table: MountTable | undefined;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#operations = new Counter({
      name: "volume_manager_operations_total",
      help: "Operations that ended, by outcome: success, or the class of the failure.",
      labelNames: ["operation", "plugin", "status"],
      registers,
    });
    this.#duration = new Histogram({
      name: "volume_manager_operation_duration_seconds",
      help: "How long operations took.",
      labelNames: ["operation", "plugin"],
      buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 600],
      registers,
    });
    this.#drifts = new Counter({
      name: "nodevolume_agent_drifts_total",
      help: "Differences between the mount table and what was mounted, counted when they appear.",
      labelNames: ["class"],
      registers,
    });
    this.#unexplained = new Counter({
      name: "nodevolume_agent_plans_unexplained_total",
      help: "Stale plans that no changed input explains, found by the periodic full replan.",
      registers,
    });
    const gauge = (name: string, help: string, labelNames: string[], count: (plan: Plan) => Sample[]) =>
      sampledGauge(registry, { name, help, labelNames }, () => (this.#plan === undefined ? [] : count(this.#plan)));
    gauge("volume_manager_total_volumes", "Volumes, by state of world.", ["plugin_name", "state"], totals);
    gauge(
      "volume_manager_state_diff",
      "Mounts that are specified and missing (missing), or present and not specified (extra).",
      ["direction"],
      differences,
    );
    gauge("nodevolume_agent_volumes_waiting", "Volumes that wait.", ["reason"], waiting);
    gauge("nodevolume_agent_volumes_drifted", "Volumes that drifted and are not repaired.", ["class"], drifted);
    gauge("nodevolume_agent_orphans", "Volumes that no intent names.", ["reason"], orphans);
    const size = { name: "nodevolume_agent_mount_table_entries", help: "Lines of the node's mount table." };
    sampledGauge(registry, size, () => [{ labels: {}, value: this.#table?.size ?? 0 }]);
  }

  planned(plan: Plan, table: MountTable | undefined): void {
    this.#plan = plan;
    this.#unexplained.inc(plan.unexplained?.length ?? 0);
    this.#table = table;
  }

  operation({ kind, volume }: Operation, status: string, durationMs: number): void {
    const found = this.#plan?.volumes.get(volume);
    const plugin = found === undefined ? "unknown" : typeOf(found);
    this.#operations.inc({ operation: kind, plugin, status });
    this.#duration.observe({ operation: kind, plugin }, durationMs / 1000);
  }

  drift(driftClass: string): void {
    this.#drifts.inc({ class: driftClass });
  }
}

function typeOf({ desired, record }: VolumePlan): string {
  return record?.type ?? (desired !== undefined && "type" in desired ? desired.type : "unknown");
}

function totals(plan: Plan): Sample[] {
  return [...plan.volumes.values()].flatMap((volume) => {
    const plugin_name = typeOf(volume);
    const states = [];
    if (volume.desired?.deleting === false) states.push("desired_state_of_world");
    if (volume.actualState.inUse) states.push("actual_state_of_world");
    return states.map((state) => ({ labels: { plugin_name, state }, value: 1 }));
  });
}

function differences(plan: Plan): Sample[] {
  const targets = [...plan.volumes.values()].flatMap((v) =>
    v.actualState.targets.map((target) => ({ target, phase: v.phase })),
  );
  const missing = targets.filter(
    ({ target, phase }) => phase === "setUp" && target.desired !== undefined && !isInSync(target),
  );
  const extra = targets.filter(
    ({ target, phase }) =>
      target.truth !== "absent" && target.record !== undefined && (phase !== "setUp" || target.desired === undefined),
  );
  return [
    { labels: { direction: "missing" }, value: missing.length },
    { labels: { direction: "extra" }, value: extra.length },
  ];
}

function waiting(plan: Plan): Sample[] {
  return [...plan.volumes.values()].flatMap((volume) => {
    const obstacle = obstacleOf(volume);
    return obstacle === undefined ? [] : [{ labels: { reason: obstacle.reason }, value: 1 }];
  });
}

function drifted(plan: Plan): Sample[] {
  return [...plan.volumes.values()].flatMap((volume) => {
    const { drift } = summaryOf(volume);
    return drift === undefined ? [] : [{ labels: { class: drift.class }, value: 1 }];
  });
}

function orphans(plan: Plan): Sample[] {
  const counted = plan.synced ? [...plan.volumes.values()].map(orphanReason) : [];
  const count = (reason: ReturnType<typeof orphanReason>) => counted.filter((found) => found === reason).length;
  return (["UnexplainedRemoval", "Retained"] as const).map((reason) => ({ labels: { reason }, value: count(reason) }));
}
