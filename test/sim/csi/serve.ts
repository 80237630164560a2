import {
  GetPluginInfoResponse,
  NodeExpandVolumeRequest,
  NodeExpandVolumeResponse,
  NodeGetCapabilitiesResponse,
  NodeGetInfoResponse,
  NodeGetVolumeStatsRequest,
  NodeGetVolumeStatsResponse,
  NodePublishVolumeRequest,
  NodePublishVolumeResponse,
  NodeStageVolumeRequest,
  NodeStageVolumeResponse,
  NodeUnpublishVolumeRequest,
  NodeUnpublishVolumeResponse,
  NodeUnstageVolumeRequest,
  NodeUnstageVolumeResponse,
  NodeServiceCapability_RPC_Type as Type,
} from "../../../src/csi/gen/csi.gen.ts";
import type { NodeSide } from "./node-side.ts";
import { RPCFailure } from "./rpc-failure.ts";
import type { DriverKind } from "./storage.ts";

/** A call as a driver's server has it: what it is, of which volume, and what it does. */
export interface Served {
  readonly rpc: string;
  /** undefined: it asks, and changes nothing. */
  readonly volume: string | undefined;
  /** @returns the encoded reply. @throws RPCFailure */
  apply(side: NodeSide): Uint8Array;
}

/** Takes a call apart. @param method such as /csi.v1.Node/NodeStageVolume */
export function served(kind: DriverKind, node: string, method: string, bytes: Uint8Array): Served {
  const rpc = method.slice(method.lastIndexOf("/") + 1);
  switch (rpc) {
    case "GetPluginInfo":
      return asked(rpc, () => encoded(GetPluginInfoResponse, { name: kind.name, vendorVersion: "sim" }));
    case "NodeGetCapabilities":
      return asked(rpc, () =>
        encoded(NodeGetCapabilitiesResponse, { capabilities: typesOf(kind).map((type) => ({ rpc: { type } })) }),
      );
    case "NodeGetInfo":
      return asked(rpc, () => encoded(NodeGetInfoResponse, { nodeId: nodeIDOf(node) }));
    case "NodeStageVolume": {
      const request = NodeStageVolumeRequest.decode(bytes);
      const changed = (side: NodeSide) => side.stage(request);
      return changing(rpc, request, changed, NodeStageVolumeResponse);
    }
    case "NodeUnstageVolume": {
      const request = NodeUnstageVolumeRequest.decode(bytes);
      return changing(rpc, request, (side) => side.unstage(request), NodeUnstageVolumeResponse);
    }
    case "NodePublishVolume": {
      const request = NodePublishVolumeRequest.decode(bytes);
      return changing(rpc, request, (side) => side.publish(request), NodePublishVolumeResponse);
    }
    case "NodeUnpublishVolume": {
      const request = NodeUnpublishVolumeRequest.decode(bytes);
      return changing(rpc, request, (side) => side.unpublish(request), NodeUnpublishVolumeResponse);
    }
    case "NodeExpandVolume": {
      const request = NodeExpandVolumeRequest.decode(bytes);
      const apply = (side: NodeSide) => encoded(NodeExpandVolumeResponse, { capacityBytes: side.expand(request) });
      return { rpc, volume: request.volumeId, apply };
    }
    case "NodeGetVolumeStats": {
      const request = NodeGetVolumeStatsRequest.decode(bytes);
      const apply = (side: NodeSide) => encoded(NodeGetVolumeStatsResponse, { usage: side.stats(request) });
      return { rpc, volume: undefined, apply };
    }
    default:
      return asked(rpc, () => {
        throw new RPCFailure("UNIMPLEMENTED", method);
      });
  }
}

/** What a driver calls a node (CSINode.spec.drivers). */
export function nodeIDOf(node: string): string {
  return `${node}-id`;
}

function typesOf({ stageUnstage, expand, mountGroup, stats }: DriverKind): Type[] {
  return [
    ...(stageUnstage ? [Type.STAGE_UNSTAGE_VOLUME] : []),
    ...(expand ? [Type.EXPAND_VOLUME] : []),
    ...(mountGroup === true ? [Type.VOLUME_MOUNT_GROUP] : []),
    ...(stats ? [Type.GET_VOLUME_STATS] : []),
    Type.SINGLE_NODE_MULTI_WRITER,
  ];
}

interface Message<T> {
  fromPartial(value: Partial<T>): T;
  encode(message: T): { finish(): Uint8Array };
}

function encoded<T>(
  message: { fromPartial(value: never): T; encode: Message<T>["encode"] },
  value: object,
): Uint8Array {
  return message.encode(message.fromPartial(value as never)).finish();
}

function asked(rpc: string, reply: () => Uint8Array): Served {
  return { rpc, volume: undefined, apply: reply };
}

function changing<T>(
  rpc: string,
  { volumeId }: { readonly volumeId: string },
  change: (side: NodeSide) => void,
  reply: { fromPartial(value: never): T; encode: Message<T>["encode"] },
): Served {
  return {
    rpc,
    volume: volumeId,
    apply(side) {
      change(side);
      return encoded(reply, {});
    },
  };
}
