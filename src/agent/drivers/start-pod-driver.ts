import type { Registry } from "prom-client";
import type { KubeObject } from "../../api/meta.ts";
import { podDriver, resource } from "../../api/names.ts";
import { PodDriver, type PodDriverDeps } from "../../csi/server/pod-driver.ts";
import type { KubeClient } from "../../kube/client/client.ts";
import type { HealthChecks } from "../health/health-checks.ts";
import { podDriverMetrics } from "./pod-driver-metrics.ts";

/** Dependencies of serving volumes to pods, beside those of the CSI server itself. */
export interface StartPodDriverDeps extends Omit<PodDriverDeps, "read" | "onCall" | "onRegistration"> {
  readonly client: Pick<KubeClient, "get">;
  readonly registry: Registry;
  readonly healthChecks: HealthChecks;
}

/** The driver for pods, with the gRPC library: a module of its own, to be loaded only where there is a kubelet. */
export function startPodDriver({ client, registry, healthChecks, ...deps }: StartPodDriverDeps): PodDriver {
  const metrics = podDriverMetrics(registry, () => driver.underWay);
  const driver: PodDriver = new PodDriver({
    ...deps,
    read: () => client.get<KubeObject & { readonly spec?: object }>(resource.csiDrivers, { name: podDriver }),
    onCall: metrics.called,
    onRegistration(is, problem) {
      metrics.registered(is);
      healthChecks.missing("registration", problem);
    },
  });
  return driver.start();
}
