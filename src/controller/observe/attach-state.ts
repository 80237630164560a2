import { annotation } from "../../api/names.ts";
import { isResourceExhausted, untilDetached } from "../../kube/objects/attach-error.ts";
import { detaching, onAttachment } from "../attach/obstacles.ts";
import { resolveClaim } from "../claims/resolve-claim.ts";
import { accessModeOf, isSingleNode } from "../model/access.ts";
import type { Intent } from "../model/projections.ts";
import type { Attachment, ClaimObjects, CSINode, PersistentVolume } from "../model/storage-objects.ts";
import type { WaitReason } from "../model/wait-reason.ts";

/** What is known of how a claim that kubelet manages gets to a node. */
export interface AttachFacts {
  readonly objects: ClaimObjects;
  readonly csiNode: CSINode | undefined;
  /** VolumeAttachments of the claim's PersistentVolume, on every node. */
  readonly attachments: readonly Attachment[];
  /** Intents of the claim on other nodes, whoever manages them. */
  readonly elsewhere: readonly Intent[];
}

/** What `status.attach` says: the node's VolumeAttachment, and what is waited for. */
export interface AttachState {
  readonly waitReason: WaitReason | undefined;
  readonly volumeAttachment: string | undefined;
}

/**
 * What kubelet waits for before it can mount a claim on a node, as far as the API's objects show it. Pure.
 * ```
 *  claim bound ─► driver on the node ─► nobody else has it ─► VolumeAttachment ─► attached
 * ```
 */
export function attachState({ spec }: Intent, facts: AttachFacts): AttachState {
  const source = spec.source.persistentVolumeClaim;
  if (source === undefined) return { waitReason: undefined, volumeAttachment: undefined };
  const { objects, csiNode, attachments } = facts;
  const { nodeName } = spec;
  const found = resolveClaim(source, objects);
  const ours = attachments.find((one) => one.nodeName === nodeName);
  const volumeAttachment = ours?.metadata.name;
  // A claim that is being deleted is mounted all the same for the pods that have it.
  if ("waiting" in found) return { waitReason: claimWaits(found.waiting, source, objects), volumeAttachment };
  const { csi, persistentVolume } = found;
  const attachRequired = objects.csiDriver(csi.driver)?.attachRequired ?? true;
  if (ours?.metadata.deletionTimestamp !== undefined) return { waitReason: detaching(ours), volumeAttachment };
  if (csiNode?.drivers.some(({ name }) => name === csi.driver) !== true) {
    const message = `driver ${csi.driver} is not registered on node ${nodeName}: its CSINode does not name it`;
    return {
      waitReason: { reason: "DriverNotOnNode", message, on: { kind: "CSINode", name: nodeName } },
      volumeAttachment,
    };
  }
  if (!attachRequired || ours?.attached === true) return { waitReason: undefined, volumeAttachment };
  const limit = csiNode.drivers.find(({ name }) => name === csi.driver)?.limit;
  const waitReason = heldElsewhere(persistentVolume, nodeName, facts) ?? notAttached(ours, nodeName, limit);
  return { waitReason, volumeAttachment };
}

/** In the claim's own words, and who is to bind it. */
function claimWaits(
  waitReason: WaitReason,
  { namespace, claimName }: { readonly namespace: string; readonly claimName: string },
  objects: ClaimObjects,
): WaitReason {
  if (waitReason.reason === "NeedsScheduler") return { ...waitReason, reason: "ClaimNotBound" };
  if (waitReason.reason !== "ClaimNotBound") return waitReason;
  const claim = objects.claim(namespace, claimName);
  const storageClass = claim && objects.storageClass(claim.storageClassName);
  const node = claim?.metadata.annotations?.[annotation.selectedNode];
  const chosen = node === undefined ? "" : `; the scheduler has chosen node ${node}`;
  const who = storageClass === undefined ? "" : `; provisioner ${storageClass.provisioner} is to make its volume`;
  const events = `kubectl -n ${namespace} describe pvc ${claimName} shows the provisioner's messages`;
  return { ...waitReason, message: `${waitReason.message}${chosen}${who}: ${events}` };
}

/**
 * Of a volume for one node at a time: who else has it. kube-controller-manager calls it Multi-Attach (behaviour 88).
 */
function heldElsewhere(
  { accessModes }: PersistentVolume,
  nodeName: string,
  facts: AttachFacts,
): WaitReason | undefined {
  if (!isSingleNode(accessModeOf(accessModes, false))) return undefined;
  const other = facts.attachments.find((one) => one.nodeName !== nodeName);
  if (other === undefined) return undefined;
  const { name, creationTimestamp = "an unknown time", deletionTimestamp } = other.metadata;
  const user = facts.elsewhere.find(({ spec }) => spec.nodeName === other.nodeName);
  const pod = user?.spec.pods?.[0];
  const going = deletionTimestamp === undefined ? "" : ", and is being detached there";
  const trouble = other.detachError === "" ? "" : ` (${other.detachError})`;
  const who =
    pod !== undefined
      ? `pod ${pod.namespace}/${pod.name} uses it there`
      : user === undefined
        ? "no pod there names its claim any more"
        : `${user.metadata.name} has it there`;
  const since = `attached to node ${other.nodeName} since ${creationTimestamp} (${name})${going}${trouble}`;
  const message = `the volume is for one node at a time, and ${since}; ${who}`;
  const on =
    pod === undefined
      ? onAttachment(name, other.nodeName)
      : { kind: "Pod", namespace: pod.namespace, name: pod.name, node: other.nodeName };
  return { reason: "VolumeHeldElsewhere", message, on };
}

function notAttached(ours: Attachment | undefined, nodeName: string, limit: number | undefined): WaitReason {
  if (ours === undefined) {
    const message = `there is no VolumeAttachment of it for node ${nodeName} yet: kube-controller-manager makes it`;
    return { reason: "WaitingForAttach", message, on: { kind: "Node", name: nodeName } };
  }
  const { metadata, attacher, attachError, attachErrorCode } = ours;
  const on = onAttachment(metadata.name, nodeName);
  if (isResourceExhausted(attachErrorCode)) {
    const most = limit === undefined ? "whose CSINode names no limit" : `whose CSINode allows ${limit} volumes of it`;
    const message = `driver ${attacher} has no room for the volume on node ${nodeName}, ${most}; ${untilDetached}. Its message: ${attachError}`;
    return { reason: "AttachLimitReached", message, on };
  }
  if (attachError !== "") return { reason: "AttachFailed", message: attachError, on };
  const message = `driver ${attacher} has not attached the volume to node ${nodeName} yet`;
  return { reason: "WaitingForAttach", message, on };
}
