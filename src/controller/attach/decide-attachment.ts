import { attachLimitText, isResourceExhausted, untilDetached } from "../../kube/objects/attach-error.ts";
import type { Attachment } from "../model/storage-objects.ts";
import type { VolumeID } from "../model/volume-key.ts";
import type { WaitReason } from "../model/wait-reason.ts";
import { onAttachment } from "./obstacles.ts";
import { contextTooLarge } from "./size-limits.ts";
import type { Decision } from "./volume-decision.ts";
import { type IndexedVolumeFacts, nodeNameOf, type Place, type VolumeConsumer } from "./volume-facts.ts";

/** One node's attachment of a volume. Pure. */

/** Where the external-attacher writes by which name the driver knows the node that the volume was attached to. */
const nodeIDAnnotation = "csi.alpha.kubernetes.io/node-id";

/** For a consumer whose turn it is: attach, wait, or grant. `attached: true` starts a grant; it never renews one. */
export function decideAttachment(facts: IndexedVolumeFacts, consumer: VolumeConsumer): Decision {
  if (!facts.attachRequired) return { consumer, step: { do: "grant", attachment: undefined } };
  const nodeName = nodeNameOf(consumer);
  const attachment = facts.ours.get(nodeName);
  if (attachment === undefined) {
    // Written and not seen yet, or not answered: to write it again finds out.
    if (facts.attaching.has(nodeName))
      return { consumer, step: { do: "attach", again: false }, waitReason: notYet(facts, consumer) };
    const full = limitReached(facts.id, nodeName, consumer.place);
    if (full !== undefined) return { consumer, waitReason: full };
    return { consumer, step: { do: "attach", again: false }, waitReason: notYet(facts, consumer) };
  }
  const waitReason = troubleOf(consumer, attachment) ?? publishContextTooLarge(attachment);
  return waitReason === undefined ? { consumer, step: { do: "grant", attachment } } : { consumer, waitReason };
}

/** What keeps one more volume of a driver from a node that has as many as it takes. */
export function limitReached({ driver }: VolumeID, node: string, { limit, attached }: Place): WaitReason | undefined {
  if (limit === undefined || attached < limit) return undefined;
  const message = `driver ${driver} may have no more volumes here: ${attachLimitText(node, attached, limit)}; ${untilDetached}`;
  return { reason: "AttachLimitReached", message, on: { kind: "CSINode", name: node } };
}

/**
 * For a consumer that has a grant: whether what the grant rests on is still there. Nothing of it takes the grant away.
 */
export function decideGranted(facts: IndexedVolumeFacts, consumer: VolumeConsumer): Decision {
  const { grant } = consumer.intent.spec;
  if (grant === undefined) {
    // Written and not seen yet, or not answered: to grant again finds out.
    const attachment = facts.ours.get(nodeNameOf(consumer));
    return facts.attachRequired && attachment === undefined
      ? { consumer, step: { do: "attach", again: true } }
      : { consumer, step: { do: "grant", attachment: facts.attachRequired ? attachment : undefined } };
  }
  const { foreign } = facts;
  if (foreign !== undefined) {
    const on = onAttachment(foreign.metadata.name, foreign.nodeName);
    const message = `the volume is in use here, and attached to node ${foreign.nodeName} for a pod that names it directly`;
    return { consumer, waitReason: { reason: "SharedWithKubelet", message, on } };
  }
  if (grant.volumeAttachment === undefined) return { consumer };
  const attachment = facts.ours.get(nodeNameOf(consumer));
  const on = onAttachment(grant.volumeAttachment.name, nodeNameOf(consumer));
  if (attachment === undefined) {
    const message = "somebody else has deleted the VolumeAttachment of a volume that is in use: it is made again";
    return { consumer, step: { do: "attach", again: true }, waitReason: { reason: "WaitingForAttach", message, on } };
  }
  if (attachment.metadata.deletionTimestamp !== undefined) {
    const message =
      "somebody else deletes the VolumeAttachment of a volume that is in use; it is made again when it is gone";
    return { consumer, waitReason: { reason: "Detaching", message, on } };
  }
  const waitReason = troubleOf(consumer, attachment);
  return waitReason === undefined ? { consumer } : { consumer, waitReason };
}

function notYet({ id }: IndexedVolumeFacts, consumer: VolumeConsumer): WaitReason {
  const message = `driver ${id.driver} has not attached the volume to node ${nodeNameOf(consumer)} yet`;
  return { reason: "WaitingForAttach", message };
}

/** What is wrong with an attachment of ours that is there. */
function troubleOf(consumer: VolumeConsumer, attachment: Attachment): WaitReason | undefined {
  const { name } = attachment.metadata;
  const { nodeName } = attachment;
  const on = onAttachment(name, nodeName);
  if (!attachment.attached) {
    if (isResourceExhausted(attachment.attachErrorCode)) {
      const { attached, limit } = consumer.place;
      const room = `${attachLimitText(nodeName, attached, limit, true)}; ${untilDetached}`;
      const message = `driver ${attachment.attacher} has no room for the volume: ${room}. Its message: ${attachment.attachError}`;
      return { reason: "AttachLimitReached", message, on };
    }
    if (attachment.attachError !== "") return { reason: "AttachFailed", message: attachment.attachError, on };
    const message = `driver ${attachment.attacher} has not attached the volume to node ${nodeName} yet`;
    return { reason: "WaitingForAttach", message, on };
  }
  const stale = staleNodeID(attachment, consumer.place.nodeID);
  return stale === undefined ? undefined : { reason: "StaleNodeID", message: stale, on };
}

/**
 * Whether the volume was attached to what the driver knew the node as earlier: another machine of the same name,
 * perhaps, which may still have it. To detach would then be done for the wrong one (safety rule 10).
 */
export function staleNodeID({ metadata, nodeName }: Attachment, nodeID: string | undefined): string | undefined {
  const attachedTo = metadata.annotations?.[nodeIDAnnotation] ?? "";
  if (attachedTo === "" || nodeID === undefined || attachedTo === nodeID) return undefined;
  return `the volume was attached to ${attachedTo}, and node ${nodeName} is ${nodeID} now, by its CSINode`;
}

function publishContextTooLarge(attachment: Attachment): WaitReason | undefined {
  const message = contextTooLarge(attachment.metadataOfDriver);
  if (message === undefined) return undefined;
  return { reason: "PublishContextTooLarge", message, on: onAttachment(attachment.metadata.name, attachment.nodeName) };
}
