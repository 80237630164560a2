import { Gauge, type Registry } from "prom-client";
import { type Features, featureGates, type GateTable } from "./feature-gates.ts";

/**
 * Which features that decide something in this role are on, as Kubernetes' own programs say it
 * (kubernetes_feature_enabled).
 */
export function registerFeatureMetrics(registry: Registry, role: "controller" | "agent", features: Features): void {
  const gauge = new Gauge({
    name: "nodevolume_feature_enabled",
    help: "1 for a feature gate that is on, 0 for one that is off",
    labelNames: ["name", "stage"],
    registers: [registry],
  });
  const gates: GateTable = featureGates;
  for (const [name, { stage, roles }] of Object.entries(gates)) {
    if (roles.includes(role)) gauge.set({ name, stage }, features[name as keyof Features] ? 1 : 0);
  }
}
