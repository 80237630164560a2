import { matchesSelector } from "../../api/match-node.ts";
import { annotation, podDriver } from "../../api/names.ts";
import type { GrantedCSIVolume } from "../../api/types.gen.ts";
import { claimNotAllowed } from "../claims/allowed-sets.ts";
import type { Intent } from "../model/projections.ts";
import type { Attachment } from "../model/storage-objects.ts";
import { requestersOf } from "../model/volume-identity.ts";
import type { WaitReason } from "../model/wait-reason.ts";
import { isResolved } from "./resolve-volume.ts";
import {
  holds,
  type IndexedVolumeFacts,
  isExclusive,
  nodeNameOf,
  type VolumeConsumer,
  type VolumeFacts,
} from "./volume-facts.ts";

/** Wait reasons of an intent that requests a volume: what keeps it from being attached or granted. Pure. */

/** What lies with the intent, its node and its volume; who waits for this holds up nobody. */
export function ownObstacle(facts: VolumeFacts, consumer: VolumeConsumer): WaitReason | undefined {
  const { attachRequired, lifecycleModes, id } = facts;
  const { intent, node, resolution, place } = consumer;
  const { name } = intent.metadata;
  if (!isResolved(resolution)) return resolution.waiting;
  const notAllowed = consentObstacle(facts, consumer);
  if (notAllowed !== undefined) return notAllowed;
  const { nodeName, mounts, pods = [] } = intent.spec;
  const { persistentVolume, csi, accessMode } = resolution;
  if (node === undefined) {
    return { reason: "NodeLost", message: `there is no Node ${nodeName}`, on: { kind: "Node", name: nodeName } };
  }
  const ofOnePod = csi && identityObstacle(facts, intent, csi);
  if (ofOnePod !== undefined) return ofOnePod;
  if (!lifecycleModes.includes("Persistent")) {
    const modes = lifecycleModes.join(", ");
    const message = `driver ${id.driver} has only volumes that are made for a pod and go with it (volumeLifecycleModes: ${modes}): use a driver that lists Persistent`;
    return { reason: "LifecycleModeUnsupported", message, on: { kind: "CSIDriver", name: id.driver } };
  }
  const terms = persistentVolume?.nodeTerms;
  if (terms !== undefined && !matchesTerms(terms, node)) {
    const message = `PersistentVolume ${persistentVolume?.metadata.name} cannot be used on node ${nodeName}, by its nodeAffinity`;
    return { reason: "NodeAffinityMismatch", message, on: { kind: "Node", name: nodeName } };
  }
  const users = mounts.length + new Set(pods.map(({ uid }) => uid)).size;
  if (accessMode === "ReadWriteOncePod" && users > 1) {
    const what = pods.length === 0 ? "mounts" : "mounts and pods";
    const message = `the volume is ReadWriteOncePod and ${name} has ${users} ${what}: one may use it`;
    return { reason: "AccessModeMismatch", message };
  }
  if (attachRequired && place.unmanaged !== undefined) {
    const message = `driver ${id.driver} attaches volumes, and nothing attaches any to node ${nodeName}: ${place.unmanaged}`;
    return { reason: "AttachNotManaged", message, on: { kind: "Node", name: nodeName } };
  }
  if (attachRequired && place.nodeID === undefined) {
    const message = `driver ${id.driver} is not in the CSINode of ${nodeName}`;
    return { reason: "DriverNotOnNode", message, on: { kind: "CSINode", name: nodeName } };
  }
  return undefined;
}

/**
 * PURE. What keeps a volume from being granted of which the driver acts as the pod that uses it (tokenRequests):
 * mounted once for many, all would use it with the rights of one (safety rule 17). Undefined if it publishes for each
 * pod by itself, as that, or does not act as any.
 */
export function identityObstacle(
  { tokenAudiences, audiencesOfPods, id }: Pick<VolumeFacts, "tokenAudiences" | "audiencesOfPods" | "id">,
  { spec }: Pick<Intent, "spec">,
  { nodeStageSecretRef }: Pick<GrantedCSIVolume, "nodeStageSecretRef">,
): WaitReason | undefined {
  if (tokenAudiences.length === 0) return undefined;
  const acts = `driver ${id.driver} acts as the pod that uses a volume (tokenRequests)`;
  const refuse = (why: string, name: string): WaitReason => {
    return { reason: "PerPodIdentity", message: `${acts}${why}`, on: { kind: "CSIDriver", name } };
  };
  if (spec.mounts.length > 0) {
    return refuse(", and a mount of a node is no pod's: take the mounts off the set, and use it in pods", id.driver);
  }
  if (nodeStageSecretRef !== undefined) {
    const instead = "name the claim under persistentVolumeClaim in the pod, so that kubelet mounts it";
    return refuse(
      `, and the volume is staged with a Secret (nodeStageSecretRef), for all pods alike: ${instead}`,
      id.driver,
    );
  }
  const lacking = tokenAudiences.filter((audience) => !audiencesOfPods.includes(audience));
  if (lacking.length === 0) return undefined;
  const which = lacking.map((audience) => JSON.stringify(audience)).join(", ");
  const remedy = `list it in tokenRequests of the CSIDriver ${podDriver} (config/components/pod-tokens)`;
  return refuse(`, and kubelet hands over no token of pods for the audience ${which}: ${remedy}`, podDriver);
}

/** That a claim of the volume does not allow each set that has it mounted, or shares it with pods (decision 0106). */
export function consentObstacle(
  { claims }: VolumeFacts,
  { intent, resolution }: VolumeConsumer,
): WaitReason | undefined {
  const named = isResolved(resolution) ? resolution.claim : undefined;
  const all = named === undefined ? claims : [named, ...claims];
  return all.length === 0 ? undefined : claimNotAllowed(all, requestersOf(intent));
}

/** Asks for what a claim does not allow: neither a mark on the claim nor an attachment is kept for it. */
export function isDenied(facts: VolumeFacts, consumer: VolumeConsumer): boolean {
  return !holds(consumer) && consentObstacle(facts, consumer) !== undefined;
}

function matchesTerms(terms: readonly unknown[], node: NonNullable<VolumeConsumer["node"]>): boolean {
  const nodeSelectorTerms = terms as never[];
  return matchesSelector(
    { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } } } as never,
    node,
  );
}

/** What lies with others who have the volume. Single-node volumes go to one node, others to one intent a node. */
export function othersObstacle(facts: IndexedVolumeFacts, consumer: VolumeConsumer): WaitReason | undefined {
  const { attachments, attaching, asking, leaving, foreign } = facts;
  const nodeName = nodeNameOf(consumer);
  if (leaving !== undefined) {
    return detaching(leaving);
  }
  if (foreign !== undefined) {
    return attachedByOther(foreign);
  }
  const alone = isExclusive(consumer) || facts.heldAlone;
  const holder = alone ? facts.holders[0] : facts.holderOn.get(nodeName);
  if (holder !== undefined) return heldBy(facts, holder);
  if (!alone) return undefined;
  // An attachment to a node that requests the volume, too, is no obstacle: one of the two has its turn first, and the
  // attachment of the other is deleted then.
  const left = attachments.find(
    (one) => one.nodeName !== nodeName && (usedBefore(one.metadata.annotations) || !asking.has(one.nodeName)),
  );
  if (left !== undefined) return leftAttached(left);
  const elsewhere = [...attaching].find((name) => name !== nodeName && !asking.has(name));
  if (elsewhere === undefined) return undefined;
  const message = `the volume is being attached to node ${elsewhere}`;
  return { reason: "VolumeHeldElsewhere", message, on: { kind: "Node", name: elsewhere } };
}

/** An attachment of ours that stays, perhaps because nothing proves that it is not in use. */
export function leftAttached({ metadata, nodeName }: Attachment): WaitReason {
  const since = metadata.creationTimestamp ?? "an unknown time";
  const exit = releasedBy("volumeattachment", metadata.name, "it is in use there no more");
  const way = usedBefore(metadata.annotations) ? `, and may be in use there: ${exit}` : "";
  const message = `the volume is attached to node ${nodeName} since ${since}${way}`;
  return { reason: "VolumeHeldElsewhere", message, on: onAttachment(metadata.name, nodeName) };
}

/** A grant rested on it once: it is presumed in use until somebody has acknowledged (safety rule 1). */
export function usedBefore(annotations: { readonly [key: string]: string } | undefined): boolean {
  return (annotations?.[annotation.grant] ?? "") !== "";
}

/** How an administrator ends a wait that no evidence will end. */
export function releasedBy(kind: "nvi" | "volumeattachment", name: string, condition: string): string {
  return `kubectl annotate ${kind} ${name} ${annotation.release}='who, why' once it is certain that ${condition}`;
}

/** PURE. The wait reason of a consumer while another node has the volume, with that node and since when. */
export function heldBy({ ours }: IndexedVolumeFacts, { intent }: VolumeConsumer): WaitReason {
  const { nodeName, volumeName } = intent.spec;
  const attachedSince = ours.get(nodeName)?.metadata.creationTimestamp;
  const since = attachedSince ?? intent.metadata.creationTimestamp ?? "an unknown time";
  const message = `node ${nodeName} has the volume (${volumeName}) since ${since}`;
  return { reason: "VolumeHeldElsewhere", message, on: onIntent(intent) };
}

/** The turn of one who must be alone comes before that of all who came later. */
export function queuesFor({ intent }: VolumeConsumer): WaitReason {
  const { metadata, spec } = intent;
  const since = metadata.creationTimestamp ?? "an unknown time";
  const message = `node ${spec.nodeName} waits since ${since} for the volume (${spec.volumeName}) to be free for it alone, and has its turn first`;
  return { reason: "VolumeHeldElsewhere", message, on: onIntent(intent) };
}

/** PURE. A VolumeAttachment as the object that a wait reason names. */
export function onAttachment(name: string, node: string): NonNullable<WaitReason["on"]> {
  return { kind: "VolumeAttachment", name, node };
}

/** PURE. The same of an intent. */
export function onIntent({ metadata, spec }: Intent): NonNullable<WaitReason["on"]> {
  return { kind: "NodeVolumeIntent", name: metadata.name, node: spec.nodeName };
}

/** PURE. The wait reason while a VolumeAttachment is being deleted. */
export function detaching({ metadata, nodeName, detachError }: Attachment): WaitReason {
  const trouble = detachError === "" ? "" : `: ${detachError}`;
  const message = `the volume is being detached from node ${nodeName}${trouble}`;
  return { reason: "Detaching", message, on: onAttachment(metadata.name, nodeName) };
}

/** PURE. The wait reason while a VolumeAttachment is there that is not ours. */
export function attachedByOther({ metadata, nodeName }: Attachment): WaitReason {
  const message = `the volume is attached to node ${nodeName} by somebody else, for pods that use it`;
  return { reason: "ForeignAttachment", message, on: onAttachment(metadata.name, nodeName) };
}
