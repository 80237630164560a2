import type { Measure, Scope } from "../report/row.ts";

export const inAgent = "in the agent" satisfies Scope;
export const throughApi = "through API server and etcd" satisfies Scope;

export type Kind = "mem" | "local";

/** What a volume of each kind is, for people. */
const kinds = { mem: "tmpfs", local: "bind" } as const;

/** "500 pods × 2 bind", in the words of the table. */
export function podsText(pods: number, volumes: number, kind: Kind): string {
  return `${pods} ${pods === 1 ? "pod" : "pods"} × ${volumes} ${kinds[kind]}`;
}

/**
 * p50 and p99 of one thing in milliseconds, under the names that either side gives them; of one pod they are the same.
 */
export function quantiles(name: string, ours: string, kubelet: string, wanted?: number, pods = 2): Measure[] {
  const measure = (quantile: string, of: number | undefined): Measure => ({
    name: `${name} ${quantile}`,
    unit: "ms",
    ours: `${ours}${quantile.toUpperCase()}`,
    kubelet: `${kubelet}_${quantile}_ms`,
    ...(of !== undefined && { wanted: of }),
  });
  return pods === 1 ? [measure("p50", wanted)] : [measure("p50", wanted), measure("p99", undefined)];
}
