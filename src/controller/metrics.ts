import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { findCondition } from "../api/conditions.ts";
import type { Resource } from "../api/names.ts";
import { isReason } from "../api/reasons.ts";
import type { NodeVolumeSetStatus } from "../api/types.gen.ts";
import type { WriteVerb } from "../kube/client/client.ts";
import type { AgentState } from "./model/agent-state.ts";

/** What the controller counts. Gauges are read from their sources when they are asked for. */
export interface Metrics {
  reconciled(queue: string, result: "success" | "failure", durationMs: number): void;
  wrote(resource: Resource, verb: WriteVerb, result: string): void;
  watchRestarted(resource: Resource, why: string): void;
  eventDropped(why: string): void;
}

/** Sources of the controller's gauges. They are read at each scrape. */
export interface MetricSources {
  /** Number of intents by state. */
  readonly intentsByState: () => ReadonlyMap<string, number>;
  /** The status of each set, by its name. */
  readonly sets: () => ReadonlyMap<string, NodeVolumeSetStatus>;
  /** Number of pods that are kept: those that use a volume, or name a claim. */
  readonly pods: () => number;
  /** Number of Nodes by what they show of their volumes: the condition's status; and those that have our taint. */
  readonly nodeReadiness: () => ReadonlyMap<string, number>;
  /** Number of Nodes by the state of their agent's Lease: live, late, lost or unknown. */
  readonly agentsByState: () => ReadonlyMap<AgentState, number>;
  readonly isLeader: () => boolean;
  /** Whether an admission policy is not in force, as last seen. */
  readonly policiesMissing: () => boolean;
  readonly queueDepths: () => ReadonlyMap<string, number>;
}

/** Counts of nodes in the status of a set. */
const setCounts = ["desired", "updated", "ready", "drifted", "conflict", "failed"] as const;
/** What there is none of is 0, so that somebody can ask for it before there is one. */
const agentStates: readonly AgentState[] = ["live", "late", "lost", "unknown"];
/** Sets of which there are time series of their own, so that their number has a limit whatever people make. */
const mostSets = 1_000;

/** Registers what the controller counts. */
export function createMetrics(registry: Registry): Metrics {
  const registers = [registry];
  const reconciles = new Counter({
    name: "nodevolume_controller_reconcile_total",
    help: "Runs of the controller's queues",
    labelNames: ["queue", "result"],
    registers,
  });
  const durations = new Histogram({
    name: "nodevolume_controller_reconcile_duration_seconds",
    help: "How long the runs of the controller's queues took",
    labelNames: ["queue"],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 30],
    registers,
  });
  const writes = new Counter({
    name: "nodevolume_controller_writes_total",
    help: "Writes to the API server; refused is mostly somebody else having written first",
    labelNames: ["resource", "verb", "result"],
    registers,
  });
  const restarts = new Counter({
    name: "nodevolume_controller_watch_restarts_total",
    help: "Watches that were opened again, by why the one before had ended",
    labelNames: ["resource", "reason"],
    registers,
  });
  const drops = new Counter({
    name: "nodevolume_controller_events_dropped_total",
    help: "Events that were not written",
    labelNames: ["reason"],
    registers,
  });
  return {
    reconciled(queue, result, durationMs) {
      reconciles.inc({ queue, result });
      durations.observe({ queue }, durationMs / 1000);
    },
    wrote: (resource, verb, result) => writes.inc({ resource: resource.plural, verb, result }),
    watchRestarted: (resource, reason) => restarts.inc({ resource: resource.plural, reason }),
    eventDropped: (reason) => drops.inc({ reason }),
  };
}

/** Registers the controller's gauges, which are read from their sources. */
export function registerGauges(registry: Registry, sources: MetricSources): void {
  const gauge = gaugesOf(registry);
  gauge(
    "nodevolume_controller_intents",
    "NodeVolumeIntents by the state that their agent reports",
    ["state"],
    (set) => {
      for (const [state, count] of sources.intentsByState()) set({ state }, count);
    },
  );
  gauge("nodevolume_controller_sets", "NodeVolumeSets", [], (set) => set({}, sources.sets().size));
  gauge("nodevolume_controller_pods", "Pods that use a volume of ours or name a claim", [], (set) => {
    set({}, sources.pods());
  });
  const firstSets = () => [...sources.sets()].slice(0, mostSets);
  for (const count of setCounts) {
    gauge(`nodevolume_controller_set_nodes_${count}`, `Nodes of a set: status.${count}`, ["set"], (set) => {
      for (const [name, status] of firstSets()) set({ set: name }, status[count] ?? 0);
    });
  }
  const ready = "1 if a set is Ready, with the reason of its condition";
  gauge("nodevolume_controller_set_ready", ready, ["set", "reason"], (set) => {
    for (const [name, { conditions }] of firstSets()) {
      const { status, reason } = findCondition(conditions, "Ready") ?? { status: "Unknown", reason: "NotObserved" };
      set({ set: name, reason: isReason(reason) ? reason : "Other" }, Number(status === "True"));
    }
  });
  gauge("nodevolume_controller_agents", "Nodes by the state of their agent's Lease", ["state"], (set) => {
    const found = sources.agentsByState();
    for (const state of agentStates) set({ state }, found.get(state) ?? 0);
  });
  gauge(
    "nodevolume_controller_node_readiness",
    "Nodes by the status of their condition NodeVolumesReady, and tainted: those with our taint",
    ["state"],
    (set) => {
      for (const [state, number] of sources.nodeReadiness()) set({ state }, number);
    },
  );
  gauge("nodevolume_controller_leader", "1 if this process leads", [], (set) => set({}, Number(sources.isLeader())));
  gauge("nodevolume_controller_policy_missing", "1 while an admission policy is not in force", [], (set) => {
    set({}, Number(sources.policiesMissing()));
  });
  gauge("nodevolume_controller_queue_depth", "Keys that wait or run", ["queue"], (set) => {
    for (const [queue, depth] of sources.queueDepths()) set({ queue }, depth);
  });
}

/** @returns what registers a gauge of that registry; `read` is called at each scrape */
function gaugesOf(registry: Registry) {
  return (
    name: string,
    help: string,
    labelNames: string[],
    read: (set: (labels: { [name: string]: string }, value: number) => void) => void,
  ): void => {
    new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      collect() {
        this.reset();
        read((labels, value) => this.set(labels, value));
      },
    });
  };
}
