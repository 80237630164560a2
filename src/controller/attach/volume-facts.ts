import { isSingleNode } from "../model/access.ts";
import type { Intent, NodeInfo } from "../model/projections.ts";
import type { Attachment, Claim } from "../model/storage-objects.ts";
import type { VolumeID } from "../model/volume-key.ts";
import { compareText } from "../util/canonical-json.ts";
import { isOwnAttachment } from "./attachment-name.ts";
import { isResolved, type VolumeResolution } from "./resolve-volume.ts";

/** The input of `decideVolume`: one volume, on all nodes. */
export interface VolumeFacts {
  readonly id: VolumeID;
  /** Of the driver's CSIDriver object, true if there is none; of a disk that its source names never. */
  readonly attachRequired: boolean;
  /**
   * Audiences for which the driver is given tokens of the pod that uses the volume, and acts as that; of most drivers
   * none.
   */
  readonly tokenAudiences: readonly string[];
  /** Those for which kubelet hands them over to our agents. */
  readonly audiencesOfPods: readonly string[];
  /** Of the CSIDriver: volumeLifecycleModes; Persistent if nothing is said. */
  readonly lifecycleModes: readonly string[];
  /** Intents of mode Manage that use the volume or ask for it. */
  readonly consumers: readonly VolumeConsumer[];
  /** Every claim of the volume, also where a set names the volume itself. */
  readonly claims: readonly Claim[];
  /** Every VolumeAttachment of the volume, whoever made it. */
  readonly attachments: readonly Attachment[];
  /** Nodes for which one of ours was written and not seen yet. */
  readonly attaching: ReadonlySet<string>;
  readonly node: (name: string) => NodeInfo | undefined;
}

/** One intent of a volume: a node that uses the volume or asks for it. */
export interface VolumeConsumer {
  readonly intent: Intent;
  readonly node: NodeInfo | undefined;
  readonly resolution: VolumeResolution;
  /** A grant was written and not seen yet, or not answered. */
  readonly granting: boolean;
  readonly place: Place;
}

/** The driver's registration on the consumer's node (CSINode). */
export interface Place {
  /** undefined: the driver is not registered there. */
  readonly nodeID: string | undefined;
  /** Volumes that may be attached there; undefined: as many as there are. */
  readonly limit: number | undefined;
  readonly attached: number;
  /** Why nothing is attached to the node by a controller; undefined: it is. */
  readonly unmanaged: string | undefined;
}

/** Whether a consumer uses the volume or may use it. The grant alone decides that, not any status. */
export function holds({ intent, granting }: VolumeConsumer): boolean {
  return granting || intent.spec.grant !== undefined;
}

/** Asks for the volume and has no grant. */
export function asks(consumer: VolumeConsumer): boolean {
  return !holds(consumer) && consumer.intent.metadata.deletionTimestamp === undefined;
}

/** PURE. The node of a consumer. */
export function nodeNameOf({ intent }: VolumeConsumer): string {
  return intent.spec.nodeName;
}

/** PURE. Whether a consumer allows no second node: a single-node access mode, or one that is not known yet. */
export function isExclusive({ intent, resolution }: VolumeConsumer): boolean {
  const mode = intent.spec.grant?.csi?.accessMode ?? (isResolved(resolution) ? resolution.accessMode : undefined);
  return mode === undefined || isSingleNode(mode);
}

/** The facts with indexes for comparing consumers, computed once: a volume may be on thousands of nodes. */
export interface IndexedVolumeFacts extends VolumeFacts {
  /** A VolumeAttachment of the volume that is being deleted, and one that is not ours. */
  readonly leaving: Attachment | undefined;
  readonly foreign: Attachment | undefined;
  /** Ours, by node. */
  readonly ours: ReadonlyMap<string, Attachment>;
  /** Who has the volume, the oldest first; and by node. */
  readonly holders: readonly VolumeConsumer[];
  readonly holderOn: ReadonlyMap<string, VolumeConsumer>;
  /** Whether one of those must be the only one. */
  readonly heldAlone: boolean;
  readonly consumersOn: ReadonlyMap<string, readonly VolumeConsumer[]>;
  /** Nodes of those who ask. */
  readonly asking: ReadonlySet<string>;
}

/** PURE. Indexes the facts of a volume by node, in one pass. */
export function indexFacts(facts: VolumeFacts): IndexedVolumeFacts {
  const { consumers, attachments } = facts;
  const holders = consumers.filter(holds).sort(byAge);
  const own = attachments.filter(({ metadata }) => isOwnAttachment(metadata.name));
  return {
    ...facts,
    leaving: attachments.find(({ metadata }) => metadata.deletionTimestamp !== undefined),
    foreign: attachments.find(({ metadata }) => !isOwnAttachment(metadata.name)),
    ours: new Map(own.map((one) => [one.nodeName, one])),
    holders,
    holderOn: new Map(holders.toReversed().map((one) => [nodeNameOf(one), one])),
    heldAlone: holders.some(isExclusive),
    consumersOn: Map.groupBy(consumers, nodeNameOf),
    asking: new Set(consumers.filter(asks).map(nodeNameOf)),
  };
}

/** Oldest first. */
export function byAge(a: Pick<VolumeConsumer, "intent">, b: Pick<VolumeConsumer, "intent">): number {
  const [x, y] = [a.intent.metadata, b.intent.metadata];
  return compareText(x.creationTimestamp ?? "", y.creationTimestamp ?? "") || compareText(x.name, y.name);
}
