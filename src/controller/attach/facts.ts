import type { Intent, NodeInfo } from "../projections.ts";
import { isSingleNode } from "./access.ts";
import { isOurs } from "./attachment-name.ts";
import type { Attachment } from "./objects.ts";
import type { VolumeResolution } from "./resolve-volume.ts";
import { isResolved } from "./resolve-volume.ts";
import type { VolumeID } from "./volume-key.ts";

/** What is decided by: one volume, on all nodes. */
export interface VolumeFacts {
  readonly id: VolumeID;
  /** Of the driver's CSIDriver object; true if there is none. */
  readonly attachRequired: boolean;
  /** The driver acts as the pod that uses the volume. */
  readonly wantsTokens: boolean;
  /** Intents of mode Manage that use the volume or ask for it. */
  readonly members: readonly Member[];
  /** Every VolumeAttachment of the volume, whoever made it. */
  readonly attachments: readonly Attachment[];
  /** Nodes for which one of ours was written and not seen yet. */
  readonly attaching: ReadonlySet<string>;
  readonly node: (name: string) => NodeInfo | undefined;
}

export interface Member {
  readonly intent: Intent;
  readonly node: NodeInfo | undefined;
  readonly resolution: VolumeResolution;
  /** A grant was written and not seen yet, or not answered. */
  readonly granting: boolean;
  readonly place: Place;
}

/** What the driver says of the member's node, in its CSINode. */
export interface Place {
  /** undefined: the driver is not registered there. */
  readonly nodeID: string | undefined;
  /** Volumes that may be attached there; undefined: as many as there are. */
  readonly limit: number | undefined;
  readonly attached: number;
}

/** Uses the volume, or may: by protocol, whatever any status says. */
export function holds({ intent, granting }: Member): boolean {
  return granting || intent.spec.grant !== undefined;
}

/** Asks for the volume and has no grant. */
export function asks(member: Member): boolean {
  return !holds(member) && member.intent.metadata.deletionTimestamp === undefined;
}

export function nodeNameOf({ intent }: Member): string {
  return intent.spec.nodeName;
}

export function usesAlone({ intent, resolution }: Member): boolean {
  const mode = intent.spec.grant?.csi?.accessMode ?? (isResolved(resolution) ? resolution.csi.accessMode : undefined);
  return mode === undefined || isSingleNode(mode);
}

/** Our VolumeAttachment for a node. */
export function ourAttachment({ attachments }: VolumeFacts, nodeName: string): Attachment | undefined {
  return attachments.find((one) => one.nodeName === nodeName && isOurs(one.metadata.name));
}

/** Oldest first. */
export function byAge(a: Member, b: Member): number {
  const [x, y] = [a.intent.metadata, b.intent.metadata];
  const age = (x.creationTimestamp ?? "").localeCompare(y.creationTimestamp ?? "");
  return age !== 0 ? age : x.name < y.name ? -1 : 1;
}
