import { isReason, type Reason } from "../../api/reasons.ts";
import type { AttachStatus, NodeVolumeIntentStatus } from "../../api/types.gen.ts";
import type { Attachment } from "../model/storage-objects.ts";
import { boundedMessage, type WaitReason } from "../model/wait-reason.ts";
import { isOwnAttachment } from "./attachment-name.ts";

/** Events about a volume, once for each transition, in kubelet's words where kubelet has such an Event. Pure. */
export interface VolumeEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: Reason;
  readonly message: string;
}

/**
 * The Event about a change of a VolumeAttachment of ours. Failures of its driver are in status.attach instead.
 * @param before undefined: it is new
 * @param after undefined: it is gone
 */
export function attachmentEvent(
  before: Attachment | undefined,
  after: Attachment | undefined,
): VolumeEvent | undefined {
  const one = after ?? before;
  if (one === undefined || !isOwnAttachment(one.metadata.name)) return undefined;
  const { attacher, nodeName } = one;
  const normal = (reason: Reason, message: string): VolumeEvent => ({ type: "Normal", reason, message });
  if (after === undefined)
    return normal("SuccessfulDetachVolume", `the volume is attached to node ${nodeName} no more`);
  if (after.attached) {
    if (before?.attached === true) return undefined;
    return normal("SuccessfulAttachVolume", `driver ${attacher} has attached the volume to node ${nodeName}`);
  }
  if (before !== undefined) return undefined;
  return normal("WaitingForAttach", `driver ${attacher} is requested to attach the volume to node ${nodeName}`);
}

/**
 * What a new reason in status.attach is to people, beside being read there: that attaching fails, however often it is
 * tried.
 */
export function attachEvent(
  node: string,
  before: AttachStatus | undefined,
  waitReason: WaitReason | undefined,
): VolumeEvent | undefined {
  if (!isFailure(waitReason?.reason) || waitReason === undefined || isFailure(before?.reason)) return undefined;
  const message = boundedMessage(`the volume cannot be attached to node ${node}: ${waitReason.message}`);
  return { type: "Warning", reason: "FailedAttachVolume", message };
}

/** A driver that has no room now, and fails otherwise next time, is no news. */
function isFailure(reason: string | undefined): boolean {
  return reason === "AttachFailed" || reason === "AttachLimitReached";
}

type Growth = Pick<NodeVolumeIntentStatus, "capacityBytes" | "expansion">;

/** What keeps a volume from growing on a node, and for which size; undefined: nothing, as far as is known. */
export function growthFailure({ expansion }: Growth): string | undefined {
  if (expansion === undefined || expansion.reason === "Progressing" || !isReason(expansion.reason)) return undefined;
  return `${expansion.reason} ${expansion.capacityBytes}`;
}

/**
 * Events about the expansion of a volume on a node. (kubelet: operation_generator.go, node_expander.go)
 * @param told the failure that was recorded last, if it was one
 */
export function growthEvent(node: string, before: Growth, after: Growth, told?: string): VolumeEvent | undefined {
  const failure = growthFailure(after);
  if (failure !== undefined) {
    if (failure === told || failure === growthFailure(before)) return undefined;
    const { capacityBytes, reason, message } = after.expansion ?? { capacityBytes: "", reason: "", message: "" };
    return {
      type: "Warning",
      reason: reason === "NoWritableMount" ? "FileSystemResizeFailed" : "VolumeResizeFailed",
      message: boundedMessage(`the volume does not grow to ${capacityBytes} bytes on node ${node}: ${message}`),
    };
  }
  const [had, has] = [before.capacityBytes, after.capacityBytes];
  // The size that it has from its first set-up on is no growth, unless something was said to stand in its way.
  if (has === undefined || (had === undefined && told === undefined)) return undefined;
  if (Number(has) <= Number(had ?? 0)) return undefined;
  return {
    type: "Normal",
    reason: "FileSystemResizeSuccessful",
    message: `the volume has grown to ${has} bytes on node ${node}`,
  };
}
