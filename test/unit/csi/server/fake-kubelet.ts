import { credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { grpcDialer } from "../../../../src/csi/client/grpc-connection.ts";
import {
  NodeClient,
  NodeExpandVolumeRequest,
  type NodeGetInfoResponse,
  NodeGetVolumeStatsRequest,
  NodeStageVolumeRequest,
  NodeUnpublishVolumeRequest,
} from "../../../../src/csi/gen/csi.gen.ts";
import type { PluginInfo } from "../../../../src/csi/gen/pluginregistration.gen.ts";
import { RegistrationClient } from "../../../../src/csi/registry/registration-client.ts";
import { systemClock } from "../../../../src/system.ts";
import { publishRequest, type RequestChange } from "./requests.ts";

/** How a call ended: the code's name, and what the driver said. */
export type Ending = readonly [code: string, words: string];

/**
 * A stand-in for kubelet: what its plugin watcher does with a registration socket (behaviours 115 and 116), and its csi
 * plugin with a driver (behaviour 114: each call over a new connection).
 */
export class FakeKubelet {
  /** As pluginwatcher and csi_plugin.go do it. @param refusal what it says instead of taking the driver */
  async register(socket: string, refusal?: string): Promise<PluginInfo & { readonly nodeID: string }> {
    const registrar = new RegistrationClient(grpcDialer(systemClock).dial(socket));
    try {
      const info = await registrar.info();
      const { nodeId } = await this.#call<NodeGetInfoResponse>(info.endpoint, (client, done) =>
        client.nodeGetInfo({}, done),
      );
      await registrar.notify(refusal);
      return { ...info, nodeID: nodeId };
    } finally {
      registrar.close();
    }
  }

  /** NodePublishVolume. @param signal aborts as kubelet does when it ends */
  publish(endpoint: string, change: RequestChange = {}, signal?: AbortSignal, deadlineMs = 120_000): Promise<Ending> {
    return this.#ending(endpoint, (client, done) => {
      const call = client.nodePublishVolume(
        publishRequest(change),
        new Metadata(),
        { deadline: later(deadlineMs) },
        done,
      );
      signal?.addEventListener("abort", () => call.cancel());
    });
  }

  unpublish(endpoint: string, targetPath: string): Promise<Ending> {
    const request = NodeUnpublishVolumeRequest.fromPartial({ volumeId: "csi-3d2a", targetPath });
    return this.#ending(endpoint, (client, done) => client.nodeUnpublishVolume(request, done));
  }

  stage(endpoint: string): Promise<Ending> {
    return this.#ending(endpoint, (client, done) =>
      client.nodeStageVolume(NodeStageVolumeRequest.fromPartial({}), done),
    );
  }

  expand(endpoint: string): Promise<Ending> {
    const request = NodeExpandVolumeRequest.fromPartial({});
    return this.#ending(endpoint, (client, done) => client.nodeExpandVolume(request, done));
  }

  stats(endpoint: string): Promise<Ending> {
    const request = NodeGetVolumeStatsRequest.fromPartial({});
    return this.#ending(endpoint, (client, done) => client.nodeGetVolumeStats(request, done));
  }

  #ending(endpoint: string, begin: Begin<unknown>): Promise<Ending> {
    return this.#call(endpoint, begin).then(
      () => ["OK", ""] as const,
      ({ code, details }: ServiceError) => [status[code] ?? "", details] as const,
    );
  }

  #call<Response>(endpoint: string, begin: Begin<Response>): Promise<Response> {
    const client = new NodeClient(`unix:${endpoint}`, credentials.createInsecure(), {
      "grpc.use_local_subchannel_pool": 1,
    });
    return new Promise<Response>((resolve, reject) => {
      begin(client, (error, response) => (error === null ? resolve(response) : reject(error)));
    }).finally(() => client.close());
  }
}

type Begin<Response> = (client: NodeClient, done: (error: ServiceError | null, response: Response) => void) => void;

function later(ms: number): number {
  return systemClock.now() + ms;
}
