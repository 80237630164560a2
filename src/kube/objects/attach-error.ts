import { recordIn } from "../json.ts";

/**
 * gRPC's RESOURCE_EXHAUSTED, by which a driver says that the node takes no more of its volumes. (kubelet:
 * csi_plugin.go, VerifyExhaustedResource)
 */
const resourceExhausted = 8;

/**
 * The gRPC code of a VolumeAttachment's attachError; undefined if there is none, or its attacher does not say it. Pure.
 */
export function attachErrorCode(attachment: unknown): number | undefined {
  const code = recordIn(recordIn(attachment, "status"), "attachError")?.["errorCode"];
  return typeof code === "number" ? code : undefined;
}

/** Whether a driver refuses to attach for want of room on the node. Pure. */
export function isResourceExhausted(code: number | undefined): boolean {
  return code === resourceExhausted;
}

/**
 * How many of a driver's volumes a node has, and how many it takes. Pure.
 * @param limit `allocatable.count` of its CSINode; undefined: it says none
 * @param counted the one that is waited for is among them
 */
export function attachLimitText(node: string, attached: number, limit: number | undefined, counted = false): string {
  const most = limit === undefined ? "its CSINode names no limit" : `its CSINode allows ${limit}`;
  return `node ${node} has ${attached} VolumeAttachments of the driver${counted ? ", this one among them" : ""}, and ${most}`;
}

/** What ends it. */
export const untilDetached = "it is attached once another one is detached there, or the node takes more";
