import {
  NodeExpandVolumeRequest,
  NodeGetCapabilitiesRequest,
  NodeGetInfoRequest,
  NodeGetVolumeStatsRequest,
  NodePublishVolumeRequest,
  NodePublishVolumeResponse,
  NodeStageVolumeRequest,
  NodeStageVolumeResponse,
  NodeUnpublishVolumeRequest,
  NodeUnpublishVolumeResponse,
  NodeUnstageVolumeRequest,
  NodeUnstageVolumeResponse,
} from "../gen/csi.gen.ts";
import type { NodeService } from "../ports.ts";
import type { Connection } from "./connection.ts";
import { type DriverClient, OnceAConnection } from "./driver-client.ts";
import { capabilitiesOf, expansionOf, infoOf, nothingIn, statsOf } from "./replies.ts";
import { encoded, expandMessage, publishMessage, stageMessage, statsMessage } from "./requests.ts";
import { secretsOf } from "./secrets-of.ts";

/** The node service of the driver that `client` speaks to over `connection`. */
export function nodeClient(client: DriverClient, connection: Pick<Connection, "generation">): NodeService {
  const capabilities = new OnceAConnection(connection, () =>
    client.call({ rpc: "NodeGetCapabilities", request: encoded(NodeGetCapabilitiesRequest, {}), read: capabilitiesOf }),
  );
  return {
    async capabilities() {
      await client.checkName("NodeGetCapabilities");
      return capabilities.get();
    },
    info: async () => client.call({ rpc: "NodeGetInfo", request: encoded(NodeGetInfoRequest, {}), read: infoOf }),
    stage: async (request) =>
      client.call({
        rpc: "NodeStageVolume",
        request: encoded(NodeStageVolumeRequest, stageMessage(request)),
        read: nothingIn(NodeStageVolumeResponse),
        secrets: secretsOf(request),
      }),
    unstage: async ({ volumeID, stagingPath }) =>
      client.call({
        rpc: "NodeUnstageVolume",
        request: encoded(NodeUnstageVolumeRequest, { volumeId: volumeID, stagingTargetPath: stagingPath }),
        read: nothingIn(NodeUnstageVolumeResponse),
      }),
    publish: async (request) =>
      client.call({
        rpc: "NodePublishVolume",
        request: encoded(NodePublishVolumeRequest, publishMessage(request)),
        read: nothingIn(NodePublishVolumeResponse),
        secrets: secretsOf(request),
      }),
    unpublish: async ({ volumeID, targetPath }) =>
      client.call({
        rpc: "NodeUnpublishVolume",
        request: encoded(NodeUnpublishVolumeRequest, { volumeId: volumeID, targetPath }),
        read: nothingIn(NodeUnpublishVolumeResponse),
      }),
    expand: async (request) =>
      client.call({
        rpc: "NodeExpandVolume",
        request: encoded(NodeExpandVolumeRequest, expandMessage(request)),
        read: expansionOf,
        secrets: secretsOf(request),
      }),
    stats: async (request) =>
      client.call({
        rpc: "NodeGetVolumeStats",
        request: encoded(NodeGetVolumeStatsRequest, statsMessage(request)),
        read: statsOf,
      }),
  } satisfies { [call in keyof NodeService]: (...args: never[]) => ReturnType<NodeService[call]> };
}
