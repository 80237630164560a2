import { Histogram, type Registry } from "prom-client";
import { grpcDialer } from "../../csi/client/grpc-connection.ts";
import type { CSIDrivers } from "../../csi/ports.ts";
import { DriverRegistry } from "../../csi/registry/driver-registry.ts";
import type { Sockets } from "../../host/ports/sockets.ts";
import type { System } from "../../ports.ts";
import type { LoadedDrivers } from "./late-drivers.ts";
import { meteredDialer, type OnCall } from "./metered-dialer.ts";

/** What talks to drivers, with the gRPC library: a module of its own, to be loaded only where there is a driver. */
export function startDrivers(deps: {
  readonly system: System;
  readonly sockets: Sockets;
  readonly directory: string;
  readonly hostRoot: string;
  readonly metrics: Registry;
}): LoadedDrivers {
  const { system, sockets, directory } = deps;
  const hostRoot = deps.hostRoot === "/" ? "" : deps.hostRoot;
  const onCall = callMetrics(deps.metrics, hostRoot, () => registry.drivers);
  const registry: DriverRegistry = new DriverRegistry({
    system,
    sockets,
    directory,
    hostRoot,
    dialer: meteredDialer(grpcDialer(system.clock), system.clock, onCall),
    refusals: "logged", // a registrar that is told ends, and with it the driver's registration at kubelet
  }).start();
  return { drivers: registry.drivers, stop: () => registry.stop() };
}

/** kubelet's buckets (pkg/volume/util/metrics.go), in seconds. */
const buckets = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600];

/** How long drivers take: kubelet's csi_operations_seconds, but for volumes of ours. */
export function callMetrics(registry: Registry, hostRoot: string, drivers: () => CSIDrivers): OnCall {
  const seconds = new Histogram({
    name: "csi_operations_seconds",
    help: "How long calls of CSI drivers took, by how they ended.",
    labelNames: ["driver_name", "method_name", "grpc_status_code"],
    buckets,
    registers: [registry],
  });
  const nameOf = (path: string): string => {
    const all = drivers();
    const found = all.names().find((name) => {
      const endpoint = all.driver(name)?.endpoint;
      return endpoint !== undefined && (path === endpoint || path === `${hostRoot}${endpoint}`);
    });
    return found ?? "unknown-driver"; // as kubelet has it, of a driver that is not registered yet, or any more
  };
  return (path, method_name, grpc_status_code, took) =>
    seconds.observe({ driver_name: nameOf(path), method_name, grpc_status_code }, took);
}
