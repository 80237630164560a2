import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { cut } from "../../api/conditions.ts";
import {
  NodeExpandVolumeResponse,
  NodeGetCapabilitiesResponse,
  NodeGetInfoResponse,
  NodeGetVolumeStatsResponse,
  NodeServiceCapability_RPC_Type as Type,
  VolumeUsage_Unit as Unit,
} from "../gen/csi.gen.ts";
import type { NodeCapabilities, NodeInfo, VolumeStats, VolumeUsage } from "../ports.ts";

// PURE. CSI's answers as the port's, once they are what the specification asks for. All throw if they are not.

/** A reply that CSI does not allow; its message says why, in words of ours. */
export class InvalidReply extends Error {
  override readonly name = "InvalidReply";
}

/** Number that VOLUME_CONDITION had until specification 1.13 took it away. */
const volumeConditionCapability = 4;
/** CSI's limit of a node id, in bytes. */
const longestNodeID = 256;
/** Segments of a topology that are read; a label of the Node stands for each. */
const mostSegments = 256;
/** Of a condition's text, in characters. */
const longestCondition = 1024;

/**
 * PURE. The reply of NodeGetCapabilities. Unknown capabilities are left out.
 * @throws if it is no such message
 */
export function capabilitiesOf(bytes: Uint8Array): NodeCapabilities {
  const { capabilities } = NodeGetCapabilitiesResponse.decode(bytes);
  const types = new Set<number>(capabilities.map(({ rpc }) => rpc?.type ?? Type.UNKNOWN));
  return {
    stageUnstage: types.has(Type.STAGE_UNSTAGE_VOLUME),
    expand: types.has(Type.EXPAND_VOLUME),
    stats: types.has(Type.GET_VOLUME_STATS),
    volumeMountGroup: types.has(Type.VOLUME_MOUNT_GROUP),
    singleNodeMultiWriter: types.has(Type.SINGLE_NODE_MULTI_WRITER),
    volumeCondition: types.has(volumeConditionCapability),
  };
}

/**
 * PURE. The reply of NodeGetInfo.
 * @throws InvalidReply if it exceeds the limits of the CSI specification, which kubelet's CSINode could not hold either
 */
export function infoOf(bytes: Uint8Array): NodeInfo {
  const { nodeId, maxVolumesPerNode, accessibleTopology } = NodeGetInfoResponse.decode(bytes);
  if (nodeId === "") throw new InvalidReply("node_id is empty");
  if (Buffer.byteLength(nodeId) > longestNodeID)
    throw new InvalidReply(`node_id is longer than ${longestNodeID} bytes`);
  const segments = accessibleTopology?.segments ?? new Map<string, string>();
  if (segments.size > mostSegments)
    throw new InvalidReply(`accessible_topology has more than ${mostSegments} segments`);
  return {
    nodeID: nodeId,
    maxVolumesPerNode: Math.min(
      Number(notNegative(maxVolumesPerNode, "max_volumes_per_node")),
      Number.MAX_SAFE_INTEGER,
    ),
    accessibleTopology: segments,
  };
}

/**
 * PURE. The reply of NodeExpandVolume. `capacityBytes` is "0" if the driver does not report a size.
 * @throws InvalidReply if the size is negative
 */
export function expansionOf(bytes: Uint8Array): { readonly capacityBytes: string } {
  const { capacityBytes } = NodeExpandVolumeResponse.decode(bytes);
  return { capacityBytes: notNegative(capacityBytes, "capacity_bytes") };
}

/**
 * PURE. The reply of NodeGetVolumeStats. Unknown units, and second entries of a unit, are left out.
 * @throws InvalidReply if a number is negative
 */
export function statsOf(bytes: Uint8Array): VolumeStats {
  const usage = new Map<VolumeUsage["unit"], VolumeUsage>();
  for (const { unit, total, available, used } of NodeGetVolumeStatsResponse.decode(bytes).usage) {
    const name = unit === Unit.BYTES ? "BYTES" : unit === Unit.INODES ? "INODES" : undefined;
    if (name === undefined || usage.has(name)) continue;
    usage.set(name, {
      unit: name,
      total: notNegative(total, "total"),
      available: notNegative(available, "available"),
      used: notNegative(used, "used"),
    });
  }
  const condition = conditionIn(bytes);
  return {
    usage: [...usage.values()],
    condition: condition && { ...condition, message: cut(condition.message, longestCondition) },
  };
}

/** What has nothing in it must at least be a message. */
export function nothingIn(message: { decode(bytes: Uint8Array): unknown }): (bytes: Uint8Array) => void {
  return (bytes) => {
    message.decode(bytes);
  };
}

function notNegative(number: string, field: string): string {
  if (number.startsWith("-")) throw new InvalidReply(`${field} is negative: ${number}`);
  return number;
}

/**
 * PURE. VolumeCondition in the bytes of a NodeGetVolumeStatsResponse: field 2, {abnormal = 1, message = 2}, as
 * specifications 1.3 to 1.12 have it. 1.13 has taken it out of the message for NodeGetVolumeHealth, which drivers do
 * not have yet; those with VOLUME_CONDITION still send it, and kubelet shows it.
 * @throws Error if it is no message
 */
function conditionIn(bytes: Uint8Array): { abnormal: boolean; message: string } | undefined {
  let condition: { abnormal: boolean; message: string } | undefined;
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === 2 && type === WireType.LengthDelimited) condition = decode(reader.bytes());
    else reader.skip(type, field);
  }
  return condition;
}

function decode(bytes: Uint8Array): { abnormal: boolean; message: string } {
  const condition = { abnormal: false, message: "" };
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === 1 && type === WireType.Varint) condition.abnormal = reader.bool();
    else if (field === 2 && type === WireType.LengthDelimited) condition.message = reader.string();
    else reader.skip(type, field);
  }
  return condition;
}
