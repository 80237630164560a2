import { Gauge, Histogram, type Registry } from "prom-client";
import type { KubeObject } from "../../api/meta.ts";
import { podDriver, resource } from "../../api/names.ts";
import { PodDriver, type PodDriverDeps } from "../../csi/server/pod-driver.ts";
import type { KubeClient } from "../../kube/client.ts";
import type { Vitals } from "../vitals.ts";

export interface StartPodDriverDeps extends Omit<PodDriverDeps, "read" | "onCall" | "onRegistration"> {
  readonly client: Pick<KubeClient, "get">;
  readonly registry: Registry;
  readonly vitals: Vitals;
}

/** kubelet's buckets (pkg/volume/util/metrics.go), in seconds. */
const buckets = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120];

/**
 * The driver for pods, with the gRPC library: a module of its own, so that it is loaded only where there is a kubelet.
 */
export function startPodDriver({ client, registry, vitals, ...deps }: StartPodDriverDeps): PodDriver {
  const registers = [registry];
  const seconds = new Histogram({
    name: "nodevolume_pod_driver_seconds",
    help: "How long the driver for pods took to answer kubelet's calls, by how they ended.",
    labelNames: ["method_name", "grpc_status_code"],
    buckets,
    registers,
  });
  const registered = new Gauge({
    name: "nodevolume_pod_driver_registered",
    help: "1 if kubelet has registered the driver for pods, 0 if it has refused it or has not answered.",
    registers,
  });
  const driver = new PodDriver({
    ...deps,
    read: () => client.get<KubeObject & { readonly spec?: object }>(resource.csiDrivers, { name: podDriver }),
    onCall: (method_name, grpc_status_code, ms) => seconds.observe({ method_name, grpc_status_code }, ms / 1000),
    onRegistration(is, problem) {
      registered.set(is ? 1 : 0);
      vitals.missing("registration", problem);
    },
  });
  new Gauge({
    name: "nodevolume_pod_driver_waiting",
    help: "Calls of kubelet for pods that are under way.",
    labelNames: ["method_name"],
    registers,
    collect() {
      this.set({ method_name: "NodePublishVolume" }, driver.underWay.publish);
      this.set({ method_name: "NodeUnpublishVolume" }, driver.underWay.unpublish);
    },
  });
  return driver.start();
}
