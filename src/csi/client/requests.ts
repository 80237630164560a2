import {
  VolumeCapability as CapabilityMessage,
  VolumeCapability_AccessMode_Mode as Mode,
  NodeExpandVolumeRequest,
  NodeGetVolumeStatsRequest,
  NodePublishVolumeRequest,
  NodeStageVolumeRequest,
} from "../gen/csi.gen.ts";
import type { ExpandRequest, PublishRequest, StageRequest, StatsRequest, VolumeCapability } from "../ports.ts";

/** PURE. A message of gRPC as it is sent; the members that are not given have protobuf's defaults. */
export function encoded<T, Given>(
  type: { fromPartial(given: Given): T; encode(message: T): { finish(): Uint8Array } },
  given: Given,
): Uint8Array {
  return type.encode(type.fromPartial(given)).finish();
}

// PURE. The port's requests as CSI's messages. No field is left to a default that could mean something else.

/** PURE. The CSI message of NodeStageVolume. */
export function stageMessage(request: StageRequest): NodeStageVolumeRequest {
  return NodeStageVolumeRequest.fromPartial({
    volumeId: request.volumeID,
    publishContext: new Map(request.publishContext),
    stagingTargetPath: request.stagingPath,
    volumeCapability: capabilityMessage(request.capability),
    secrets: new Map(request.secrets),
    volumeContext: new Map(request.volumeContext),
  });
}

/** PURE. The CSI message of NodePublishVolume. */
export function publishMessage(request: PublishRequest): NodePublishVolumeRequest {
  return NodePublishVolumeRequest.fromPartial({
    volumeId: request.volumeID,
    publishContext: new Map(request.publishContext),
    stagingTargetPath: request.stagingPath ?? "",
    targetPath: request.targetPath,
    volumeCapability: capabilityMessage(request.capability),
    readonly: request.readOnly,
    secrets: new Map(request.secrets),
    volumeContext: new Map(request.volumeContext),
  });
}

/** PURE. The CSI message of NodeExpandVolume. */
export function expandMessage(request: ExpandRequest): NodeExpandVolumeRequest {
  return NodeExpandVolumeRequest.fromPartial({
    volumeId: request.volumeID,
    volumePath: request.volumePath,
    stagingTargetPath: request.stagingPath ?? "",
    capacityRange: { requiredBytes: request.requiredBytes },
    volumeCapability: capabilityMessage(request.capability),
    secrets: new Map(request.secrets),
  });
}

/** PURE. The CSI message of NodeGetVolumeStats. */
export function statsMessage(request: StatsRequest): NodeGetVolumeStatsRequest {
  return NodeGetVolumeStatsRequest.fromPartial({
    volumeId: request.volumeID,
    volumePath: request.volumePath,
    stagingTargetPath: request.stagingPath ?? "",
  });
}

function capabilityMessage({ access, volume }: VolumeCapability): CapabilityMessage {
  const accessMode = { mode: Mode[access.mode] };
  if (volume.kind === "block") return CapabilityMessage.fromPartial({ accessMode, block: {} });
  const { fsType, mountFlags, mountGroup } = volume;
  const mount = { fsType, mountFlags: [...mountFlags], volumeMountGroup: mountGroup ?? "" };
  return CapabilityMessage.fromPartial({ accessMode, mount });
}
