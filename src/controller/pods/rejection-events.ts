import { resource } from "../../api/names.ts";
import type { Reason } from "../../api/reasons.ts";
import type { EventRecorder } from "../../kube/events/event-recorder.ts";
import type { PodEntry } from "../model/pod-entry.ts";
import { claimOf, type PodVolume, setOf } from "../model/pod-volume.ts";
import type { Rejection } from "./admitted-pods.ts";

/**
 * Tells whoever owns a pod why it gets no volume, or one of no use: they cannot read intents. Once for each transition.
 */
export interface RejectionEvents {
  /** @param rejections all of the node; undefined while its pods are not known */
  record(node: string, rejections: readonly Rejection[] | undefined): void;
  /** What was last told of a pod. */
  of(pod: PodEntry): readonly Rejection[];
  /** The nodes with a pod that was told that this claim is not there. */
  nodesWithout(namespace: string, claim: string): string[];
  /** The nodes with a pod that was told that a claim does not allow this set. */
  nodesRefused(set: string): string[];
}

/** @param onChange told of each pod of which something else is told than before */
export function createRejectionEvents(recorder: EventRecorder, onChange: (pod: PodEntry) => void): RejectionEvents {
  /** By node, what was told of which volume. */
  const told = new Map<string, ReadonlyMap<string, Rejection>>();
  const nodesWhere = (is: (rejection: Rejection) => boolean) =>
    [...told].flatMap(([node, rejections]) => ([...rejections.values()].some(is) ? [node] : []));
  return {
    record(node, rejections) {
      if (rejections === undefined) return;
      const before = told.get(node);
      const now = new Map(rejections.map((one) => [keyOf(one), one]));
      if (now.size === 0) told.delete(node);
      else told.set(node, now);
      for (const [key, { pod }] of before ?? []) if (!now.has(key)) onChange(pod);
      for (const [key, { pod, volume, reason, message }] of now) {
        const { namespace, name, uid } = pod.metadata;
        if (before?.has(key) === true) continue;
        onChange(pod);
        const object = { apiVersion: "v1", kind: resource.pods.kind, namespace, name, uid };
        recorder.event({ object, type: "Warning", reason, message: `volume ${volume}: ${message}` });
      }
    },
    of({ nodeName, metadata: { uid } }) {
      return [...(told.get(nodeName)?.values() ?? [])].filter(({ pod }) => pod.metadata.uid === uid);
    },
    nodesWithout: (namespace, claim) =>
      nodesWhere((rejection) => {
        const missing = askedFor(rejection, "ClaimNotFound", claimOf);
        return missing === claim && rejection.pod.metadata.namespace === namespace;
      }),
    nodesRefused: (set) => nodesWhere((rejection) => askedFor(rejection, "ClaimNotAllowed", setOf) === set),
  };
}

function keyOf({ pod, volume, reason }: Rejection): string {
  return `${pod.metadata.uid}/${volume}/${reason}`;
}

/** What a volume that was refused for this reason asks for. */
function askedFor(
  { pod, volume, reason }: Rejection,
  because: Reason,
  what: (volume: PodVolume) => string | undefined,
): string | undefined {
  const found = reason === because ? pod.volumes.find(({ name }) => name === volume) : undefined;
  return found && what(found);
}
