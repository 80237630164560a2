import { resource } from "../../api/names.ts";
import type { Reason } from "../../api/reasons.ts";
import type { EventRecorder } from "../../kube/event-recorder.ts";
import type { PodEntry } from "./pod-entry.ts";
import { claimOf, type PodVolume, setOf } from "./pod-volume.ts";
import type { Refusal } from "./served.ts";

/**
 * Tells whoever owns a pod why it gets no volume, or one of no use: they cannot read intents. Once for each transition.
 */
export interface RefusalTeller {
  /** @param refusals all of the node; undefined while its pods are not known */
  tell(node: string, refusals: readonly Refusal[] | undefined): void;
  /** What was last told of a pod. */
  of(pod: PodEntry): readonly Refusal[];
  /** The nodes with a pod that was told that this claim is not there. */
  nodesWithout(namespace: string, claim: string): string[];
  /** The nodes with a pod that was told that a claim does not allow this set. */
  nodesRefused(set: string): string[];
}

/** @param onChange told of each pod of which something else is told than before */
export function createRefusalTeller(recorder: EventRecorder, onChange: (pod: PodEntry) => void): RefusalTeller {
  /** By node, what was told of which volume. */
  const told = new Map<string, ReadonlyMap<string, Refusal>>();
  const nodesWhere = (is: (refusal: Refusal) => boolean) =>
    [...told].flatMap(([node, refusals]) => ([...refusals.values()].some(is) ? [node] : []));
  return {
    tell(node, refusals) {
      if (refusals === undefined) return;
      const before = told.get(node);
      const now = new Map(refusals.map((one) => [keyOf(one), one]));
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
      nodesWhere((refusal) => {
        const missing = askedFor(refusal, "ClaimNotFound", claimOf);
        return missing === claim && refusal.pod.metadata.namespace === namespace;
      }),
    nodesRefused: (set) => nodesWhere((refusal) => askedFor(refusal, "ClaimNotAllowed", setOf) === set),
  };
}

function keyOf({ pod, volume, reason }: Refusal): string {
  return `${pod.metadata.uid}/${volume}/${reason}`;
}

/** What a volume that was refused for this reason asks for. */
function askedFor(
  { pod, volume, reason }: Refusal,
  because: Reason,
  what: (volume: PodVolume) => string | undefined,
): string | undefined {
  const found = reason === because ? pod.volumes.find(({ name }) => name === volume) : undefined;
  return found && what(found);
}
