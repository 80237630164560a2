import { DriverRegistry } from "../../csi/driver-registry.ts";
import { grpcDialer } from "../../csi/grpc-connection.ts";
import type { Sockets } from "../../host/sockets.ts";
import type { System } from "../../ports.ts";
import type { LoadedDrivers } from "./late-drivers.ts";

/** What talks to drivers, with the gRPC library: a module of its own, so that it is loaded only where there is a driver. */
export function startDrivers(deps: {
  readonly system: System;
  readonly sockets: Sockets;
  readonly directory: string;
  readonly hostRoot: string;
}): LoadedDrivers {
  const { system, sockets, directory, hostRoot } = deps;
  const registry = new DriverRegistry({
    system,
    sockets,
    directory,
    hostRoot: hostRoot === "/" ? "" : hostRoot,
    dialer: grpcDialer(system.clock),
    refusals: "logged", // a registrar that is told ends, and with it the driver's registration at kubelet
  }).start();
  return { drivers: registry.drivers, stop: () => registry.stop() };
}
