import type { Registry } from "prom-client";
import { grpcDialer } from "../../csi/client/grpc-connection.ts";
import { DriverRegistry } from "../../csi/registry/driver-registry.ts";
import type { Sockets } from "../../host/ports/sockets.ts";
import type { System } from "../../ports.ts";
import { callMetrics } from "./call-metrics.ts";
import type { LoadedDrivers } from "./late-drivers.ts";
import { meteredDialer } from "./metered-dialer.ts";

/**
 * What talks to drivers, with the gRPC library: a module of its own, so that it is loaded only where there is a driver.
 */
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
