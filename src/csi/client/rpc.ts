/**
 * The calls that the agent makes of a driver: csi.v1.Node's, and Identity's GetPluginInfo; each with the milliseconds
 * until it is given up. kubelet's csiTimeout is 2 minutes; it asks for no more than a look.
 */
export const deadlineMs = {
  GetPluginInfo: 10_000,
  NodeGetCapabilities: 10_000,
  NodeGetInfo: 10_000,
  NodeStageVolume: 120_000,
  NodeUnstageVolume: 120_000,
  NodePublishVolume: 120_000,
  NodeUnpublishVolume: 120_000,
  NodeExpandVolume: 120_000,
  NodeGetVolumeStats: 120_000,
} as const;

/** A method of a CSI driver that the agent calls. */
export type RPC = keyof typeof deadlineMs;

/** gRPC's status codes by number (google.golang.org/grpc/codes). */
export const codes = [
  "OK",
  "CANCELLED",
  "UNKNOWN",
  "INVALID_ARGUMENT",
  "DEADLINE_EXCEEDED",
  "NOT_FOUND",
  "ALREADY_EXISTS",
  "PERMISSION_DENIED",
  "RESOURCE_EXHAUSTED",
  "FAILED_PRECONDITION",
  "ABORTED",
  "OUT_OF_RANGE",
  "UNIMPLEMENTED",
  "INTERNAL",
  "UNAVAILABLE",
  "DATA_LOSS",
  "UNAUTHENTICATED",
] as const;

/** The name of a gRPC status code. */
export type Code = (typeof codes)[number];

/** Undefined for a number that gRPC has not given out. */
export function codeOf(status: number): Code | undefined {
  return codes[status];
}
