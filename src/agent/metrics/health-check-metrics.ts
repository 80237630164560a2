import { Counter, type Registry } from "prom-client";
import type { HealthChecks } from "../health/health-checks.ts";
import type { Journal } from "../journal/journal.ts";
import { sampledGauge } from "./sampled-gauge.ts";

/** Sources of the agent's own metrics. They are read at each scrape. */
export interface HealthCheckMetricsDeps {
  readonly registry: Registry;
  readonly healthChecks: HealthChecks;
  readonly journal: Journal;
  /** Wall time in milliseconds since the epoch. */
  now(): number;
  watchConnected(): boolean;
  /** Children that were given up and may still be at work. */
  abandonedChildren(): number;
  /** Whether an admission policy that the agent rests on is not as it should be, as last seen. */
  policyMissing(): boolean;
}

/** Counters of the agent about itself, which others count up. */
export interface HealthCounters {
  readonly watchRestarts: Counter<"reason">;
  readonly droppedEvents: Counter<"reason">;
}

/** Registers the counters of the agent about itself. */
export function healthCounters(registry: Registry): HealthCounters {
  const registers = [registry];
  return {
    watchRestarts: new Counter({
      name: "nodevolume_agent_watch_restarts_total",
      help: "Watches of the node's intents that had to be opened again, by reason.",
      labelNames: ["reason"],
      registers,
    }),
    droppedEvents: new Counter({
      name: "nodevolume_agent_events_dropped_total",
      help: "Events for people that were not written, by reason.",
      labelNames: ["reason"],
      registers,
    }),
  };
}

/** Registers the metrics of the agent about itself that are computed when they are asked for. */
export function registerHealthCheckMetrics(deps: HealthCheckMetricsDeps): void {
  const { registry, healthChecks, journal } = deps;
  const registers = [registry];
  const gauge = (name: string, help: string, value: () => number | undefined) =>
    sampledGauge(registry, { name, help }, () => {
      const now = value();
      return now === undefined ? [] : [{ labels: {}, value: now }];
    });
  gauge("nodevolume_agent_watch_connected", "1 while the watch of the node's intents is open.", () =>
    deps.watchConnected() ? 1 : 0,
  );
  gauge("nodevolume_agent_lease_renewed_timestamp_seconds", "When the node's Lease was renewed last.", () =>
    healthChecks.leaseRenewedAt === undefined ? undefined : healthChecks.leaseRenewedAt / 1000,
  );
  gauge(
    "nodevolume_agent_last_check_timestamp_seconds",
    "When a check of the node ended last: a minute ago at most.",
    () => (healthChecks.sinceLookMs === undefined ? undefined : (deps.now() - healthChecks.sinceLookMs) / 1000),
  );
  gauge("nodevolume_agent_journal_damaged_lines", "Lines of the journal that were damaged at start.", () =>
    journal.damage === undefined ? 0 : journal.damage.lines,
  );
  new Counter({
    name: "nodevolume_agent_journal_failures_total",
    help: "Writes of the journal that failed since start.",
    registers,
    collect() {
      this.reset();
      this.inc(journal.failures);
    },
  });
  gauge(
    "nodevolume_agent_policy_missing",
    "1 while an admission policy that the agent rests on is not in force.",
    () => (deps.policyMissing() ? 1 : 0),
  );
  gauge("nodevolume_agent_abandoned_children", "Children given up that may still be at work.", () =>
    deps.abandonedChildren(),
  );
}
