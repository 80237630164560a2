import { Gauge, Histogram, type Registry } from "prom-client";

/** kubelet's buckets (pkg/volume/util/metrics.go), in seconds. */
const buckets = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120];

/** Metrics of the CSI driver that the agent serves for kubelet: calls, and whether kubelet has registered it. */
export interface PodDriverMetrics {
  called(method: string, code: string, ms: number): void;
  registered(is: boolean): void;
}

/** The metrics of the driver for pods. @param underWay how many calls of kubelet there are now */
export function podDriverMetrics(
  registry: Registry,
  underWay: () => { readonly publish: number; readonly unpublish: number },
): PodDriverMetrics {
  const registers = [registry];
  const seconds = new Histogram({
    name: "nodevolume_pod_driver_call_duration_seconds",
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
  new Gauge({
    name: "nodevolume_pod_driver_waiting",
    help: "Calls of kubelet for pods that are under way.",
    labelNames: ["method_name"],
    registers,
    collect() {
      const { publish, unpublish } = underWay();
      this.set({ method_name: "NodePublishVolume" }, publish);
      this.set({ method_name: "NodeUnpublishVolume" }, unpublish);
    },
  });
  return {
    called: (method_name, grpc_status_code, ms) => seconds.observe({ method_name, grpc_status_code }, ms / 1000),
    registered: (is) => registered.set(is ? 1 : 0),
  };
}
