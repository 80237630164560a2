import { Registry } from "prom-client";
import { FakeApi } from "../../../hack/lib/agent-on-kernel/fake-api.ts";
import { noDrivers } from "../../../hack/lib/no-drivers.ts";
import { podDriverMetrics } from "../../../src/agent/drivers/pod-driver-metrics.ts";
import { callMetrics } from "../../../src/agent/drivers/start-drivers.ts";
import { startAgent } from "../../../src/agent/start.ts";
import { ProxyMetrics } from "../../../src/api-proxy/metrics.ts";
import { createMetrics, type MetricSources, registerGauges } from "../../../src/controller/metrics.ts";
import { featureGates, parseFeatureGates } from "../../../src/feature-gates.ts";
import { registerRoleMetrics } from "../../../src/http/role-metrics.ts";
import { FakeHost } from "../agent/fake-host.ts";
import { virtualSystem } from "../kube/virtual-system.ts";

/** What each role serves at /metrics, also what comes only with a driver or a kubelet. */
export async function servedByRole(): Promise<{ readonly [role in "controller" | "agent" | "api-proxy"]: Registry }> {
  const roles = { controller: new Registry(), agent: new Registry(), "api-proxy": new Registry() };
  for (const role of ["controller", "agent"] as const) {
    registerRoleMetrics(roles[role], role, { processMetrics: true, features: parseFeatureGates("", featureGates) });
  }
  createMetrics(roles.controller);
  registerGauges(roles.controller, sources);
  const agent = await startAgent({
    ...{ system: virtualSystem(), transport: new FakeApi(), host: new FakeHost(), drivers: noDrivers },
    ...{ nodeName: "node", version: "test", registry: roles.agent },
    settings: { allowedPrefixes: ["/mnt"], stateDir: "/state", hostRoot: "/", csiDir: "/csi" },
  });
  await agent.stop();
  // What only comes with a driver, or with a kubelet.
  callMetrics(roles.agent, "", () => noDrivers);
  podDriverMetrics(roles.agent, () => ({ publish: 0, unpublish: 0 }));
  new ProxyMetrics(roles["api-proxy"], () => ({ requests: 0, watches: 0 }));
  return roles;
}

/** A metric as prom-client keeps it, with what its types leave out. */
interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly labelNames: readonly string[];
}

export function familiesOf(registry: Registry): Family[] {
  return registry.getMetricsAsArray() as unknown as Family[];
}

/** Names of the time series of a family: a histogram has three. */
export function seriesOf({ name, type }: Family): string[] {
  return type === "histogram" ? ["bucket", "sum", "count"].map((suffix) => `${name}_${suffix}`) : [name];
}

const counts = <K extends string>(key: K) => new Map([[key, 1]]);
const condition = { type: "Ready", status: "True", reason: "AllReady", lastTransitionTime: "", message: "" } as const;
const sources: MetricSources = {
  intentsByState: () => counts("Mounted"),
  nodeReadiness: () => counts("true"),
  agentsByState: () => counts("live"),
  queueDepths: () => counts("sets"),
  sets: () => new Map([["a", { conditions: [condition] }]]),
  pods: () => 0,
  isLeader: () => true,
  policiesMissing: () => false,
};
