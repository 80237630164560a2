import { Server } from "@grpc/grpc-js";
import { podDriver } from "../../api/names.ts";
import { type IdentityServer, IdentityService, type NodeServer, NodeService } from "../gen/csi.gen.ts";
import {
  type RegistrationServer,
  RegistrationService,
  type RegistrationStatus,
} from "../gen/pluginregistration.gen.ts";
import type { PodCalls } from "./pod-calls.ts";
import { type UnaryDeps, unary } from "./unary.ts";

/** kubelet's requests are a few hundred bytes; pods have at most 63 characters a name and 512 a path. */
const options = { "grpc.max_receive_message_length": 256 * 1024, "grpc.enable_channelz": 0 };

/** Dependencies of the CSI services Identity and Node. */
export interface CSIServerDeps extends UnaryDeps {
  readonly calls: PodCalls;
  readonly nodeName: string;
  readonly version: string;
  /** Whether volumes can be given to pods by now (Probe). */
  readonly ready: () => boolean;
}

/**
 * csi.v1.Identity and csi.v1.Node, without any optional capability: kubelet then neither stages nor asks for statistics
 * (a file system whose server hangs would hold it up), and gives a pod's files to no group. All other methods are
 * UNIMPLEMENTED.
 */
export function csiServer(deps: CSIServerDeps): Server {
  const { calls, nodeName, version, ready } = deps;
  const server = new Server(options);
  const identity: Partial<IdentityServer> = {
    getPluginInfo: unary("GetPluginInfo", deps, () => ({
      name: podDriver,
      vendorVersion: version,
      manifest: new Map<string, string>(),
    })),
    getPluginCapabilities: unary("GetPluginCapabilities", deps, () => ({ capabilities: [] })),
    probe: unary("Probe", deps, () => ({ ready: ready() })),
  };
  const node: Partial<NodeServer> = {
    nodePublishVolume: unary("NodePublishVolume", deps, async (request, limits) => {
      await calls.publish(request, limits);
      return {};
    }),
    nodeUnpublishVolume: unary("NodeUnpublishVolume", deps, async (request, limits) => {
      await calls.unpublish(request, limits);
      return {};
    }),
    nodeGetCapabilities: unary("NodeGetCapabilities", deps, () => ({ capabilities: [] })),
    // No limit: what counts is attached by the controller, not by kubelet's scheduler.
    nodeGetInfo: unary("NodeGetInfo", deps, () => ({
      nodeId: nodeName,
      maxVolumesPerNode: "0",
      accessibleTopology: undefined,
    })),
  };
  server.addService(IdentityService, identity as IdentityServer); // what is left out, the library answers
  server.addService(NodeService, node as NodeServer);
  return server;
}

/** Dependencies of kubelet's pluginregistration.Registration service. */
export interface RegistrationServerDeps extends UnaryDeps {
  /** Of the driver's socket, as kubelet names it. */
  readonly endpoint: string;
  /** Called with the result of the registration at kubelet. */
  onStatus(status: RegistrationStatus): void;
}

/** pluginregistration.Registration: what kubelet asks at a socket of its registration directory (behaviour 115). */
export function registrationServer(deps: RegistrationServerDeps): Server {
  const { endpoint, onStatus } = deps;
  const server = new Server(options);
  const registration: RegistrationServer = {
    getInfo: unary("GetInfo", deps, () => ({
      type: "CSIPlugin",
      name: podDriver,
      endpoint,
      supportedVersions: ["1.0.0"],
    })),
    notifyRegistrationStatus: unary("NotifyRegistrationStatus", deps, (status: RegistrationStatus) => {
      onStatus(status);
      return {};
    }),
  };
  server.addService(RegistrationService, registration);
  return server;
}
