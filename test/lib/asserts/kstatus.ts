import type { Condition } from "../../../src/api/types.gen.ts";

export interface Statused {
  readonly metadata: { readonly generation?: number; readonly deletionTimestamp?: string };
  readonly status?: { readonly observedGeneration?: number; readonly conditions?: readonly Condition[] };
}

/**
 * What Flux and kpt make of a custom resource: the rules of sigs.k8s.io/cli-utils/pkg/kstatus/status, in their order
 * (read in v0.37). test/cluster/gitops-health.test.ts holds it against the library.
 */
export function kstatus({ metadata, status = {} }: Statused): "Terminating" | "InProgress" | "Failed" | "Current" {
  if (metadata.deletionTimestamp !== undefined) return "Terminating";
  if (status.observedGeneration !== undefined && status.observedGeneration !== metadata.generation) return "InProgress";
  const conditions = status.conditions ?? [];
  const settling = conditions.find((c) => c.status === "True" && (c.type === "Reconciling" || c.type === "Stalled"));
  if (settling !== undefined) return settling.type === "Stalled" ? "Failed" : "InProgress";
  const ready = conditions.find((c) => c.type === "Ready");
  return ready === undefined || ready.status === "True" ? "Current" : "InProgress";
}
