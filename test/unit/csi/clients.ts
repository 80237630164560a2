import type { Connection } from "../../../src/csi/client/connection.ts";
import { DriverClient } from "../../../src/csi/client/driver-client.ts";
import { grpcDialer } from "../../../src/csi/client/grpc-connection.ts";
import { nodeClient } from "../../../src/csi/client/node-client.ts";
import type { RPC } from "../../../src/csi/client/rpc.ts";
import type { NodeService, PublishRequest, StageRequest, VolumeCapability } from "../../../src/csi/ports.ts";
import { VolumeError } from "../../../src/errors.ts";
import { systemClock } from "../../../src/system.ts";
import type { FakeDriver } from "./fake-driver.ts";

const mount: VolumeCapability = {
  access: { mode: "SINGLE_NODE_WRITER" },
  volume: { kind: "mount", fsType: "xfs", mountFlags: ["noatime"] },
};

export const stageRequest: StageRequest = {
  volumeID: "volume-1",
  publishContext: new Map([["device", "/dev/x"]]),
  stagingPath: "/staging",
  capability: mount,
  secrets: new Map(),
  volumeContext: new Map([["pool", "fast"]]),
};

export const publishRequest: PublishRequest = { ...stageRequest, targetPath: "/target", readOnly: false };

/** The node service of a driver over a connection of its own. */
export function connected(driver: Pick<FakeDriver, "name" | "socket">): {
  node: NodeService;
  client: DriverClient;
  connection: Connection;
  close(): void;
} {
  const connection = grpcDialer(systemClock).dial(driver.socket);
  const client = new DriverClient(driver.name, connection, () => {});
  return { node: nodeClient(client, connection), client, connection, close: () => connection.close() };
}

/** One call of each kind, with the least that CSI asks for. */
export function calling(node: NodeService, client: DriverClient): { readonly [rpc in RPC]: () => Promise<unknown> } {
  const volume = { volumeID: "volume-1" };
  return {
    GetPluginInfo: () => client.checkName(),
    NodeGetCapabilities: () => node.capabilities(),
    NodeGetInfo: () => node.info(),
    NodeStageVolume: () => node.stage(stageRequest),
    NodeUnstageVolume: () => node.unstage({ ...volume, stagingPath: "/staging" }),
    NodePublishVolume: () => node.publish(publishRequest),
    NodeUnpublishVolume: () => node.unpublish({ ...volume, targetPath: "/target" }),
    NodeExpandVolume: () =>
      node.expand({ ...volume, volumePath: "/target", requiredBytes: "2048", capability: mount, secrets: new Map() }),
    NodeGetVolumeStats: () => node.stats({ ...volume, volumePath: "/target" }),
  };
}

/** The VolumeError that a call ends with. */
export async function errorOf(call: Promise<unknown>): Promise<VolumeError> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof VolumeError)) throw new Error(`no VolumeError, but ${String(error)}`);
  return error;
}
