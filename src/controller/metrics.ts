import type { Registry } from "prom-client";
import { Counter, Gauge, Histogram } from "prom-client";
import type { Resource } from "../api/names.ts";
import type { WriteVerb } from "../kube/client.ts";

/** What the controller counts. Gauges are read from their sources when they are asked for. */
export interface Metrics {
  reconciled(queue: string, result: "success" | "failure", durationMs: number): void;
  wrote(resource: Resource, verb: WriteVerb, result: string): void;
  watchRestarted(resource: Resource, why: string): void;
  eventDropped(why: string): void;
}

export interface MetricSources {
  /** Number of intents by state. */
  readonly intentsByState: () => ReadonlyMap<string, number>;
  readonly sets: () => number;
  readonly isLeader: () => boolean;
  readonly queueDepths: () => ReadonlyMap<string, number>;
}

export function createMetrics(registry: Registry, sources: MetricSources): Metrics {
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
  gauge(
    "nodevolume_controller_intents",
    "NodeVolumeIntents by the state that their agent reports",
    ["state"],
    (set) => {
      for (const [state, count] of sources.intentsByState()) set({ state }, count);
    },
  );
  gauge("nodevolume_controller_sets", "NodeVolumeSets", [], (set) => set({}, sources.sets()));
  gauge("nodevolume_controller_leader", "1 if this process leads", [], (set) => set({}, Number(sources.isLeader())));
  gauge("nodevolume_controller_queue_depth", "Keys that wait or run", ["queue"], (set) => {
    for (const [queue, depth] of sources.queueDepths()) set({ queue }, depth);
  });

  function gauge(
    name: string,
    help: string,
    labelNames: string[],
    read: (set: (labels: { [name: string]: string }, value: number) => void) => void,
  ): void {
    new Gauge({
      name,
      help,
      labelNames,
      registers,
      collect() {
        this.reset();
        read((labels, value) => this.set(labels, value));
      },
    });
  }

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
