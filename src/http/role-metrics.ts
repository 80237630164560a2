import { collectDefaultMetrics, Gauge, type Registry } from "prom-client";
import { type Features, featureGates, type GateTable } from "../feature-gates.ts";
import { revision, version } from "../version.ts";

/**
 * What controller and agent register beside their own metrics: of the process, its build, and its feature gates (as
 * kubernetes_feature_enabled of Kubernetes' own programs).
 */
export function registerRoleMetrics(
  registry: Registry,
  role: "controller" | "agent",
  { processMetrics, features }: { readonly processMetrics: boolean; readonly features: Features },
): void {
  if (processMetrics) collectProcessMetrics(registry);
  const build = new Gauge({
    name: "nodevolume_build_info",
    help: "1, with the version of the program, the commit that it was built from, and its role.",
    labelNames: ["role", "version", "revision"],
    registers: [registry],
  });
  build.set({ role, version, revision }, 1);
  const feature = new Gauge({
    name: "nodevolume_feature_enabled",
    help: "1 for a feature gate that is on, 0 for one that is off",
    labelNames: ["name", "stage"],
    registers: [registry],
  });
  const gates: GateTable = featureGates;
  for (const [name, { stage, roles }] of Object.entries(gates)) {
    if (roles.includes(role)) feature.set({ name, stage }, features[name as keyof Features] ? 1 : 0);
  }
}

/**
 * The usual metrics of a Node process, but for the statistics of the event loop's lag: Node gathers them by a timer of
 * its own, by default a hundred times a second, which is all that an agent with nothing to do would do (measured: 0.36
 * s of processor time a minute of 0.37). nodejs_eventloop_lag_seconds stays: it is measured when somebody asks.
 * The three that end in _total and are no counters go, too: they are sums of those by type.
 */
export function collectProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 3_600_000 });
  for (const what of ["handles", "requests", "resources"]) registry.removeSingleMetric(`nodejs_active_${what}_total`);
  for (const name of ["min", "max", "mean", "stddev", "p50", "p90", "p99"]) {
    registry.removeSingleMetric(`nodejs_eventloop_lag_${name}_seconds`);
  }
}
