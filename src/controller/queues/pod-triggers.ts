import type { KubeObject } from "../../api/meta.ts";
import type { KeyedQueue } from "../../kube/keyed-queue.ts";
import { sameJson } from "../../kube/same-json.ts";
import { looking } from "../../kube/watch/looking.ts";
import { createFullResync } from "../../kube/watch/yielding.ts";
import type { Yielder } from "../../ports.ts";
import type { Pods } from "../cache/pods.ts";
import type { Storage } from "../cache/storage.ts";
import type { PodEntry } from "../model/pod-entry.ts";
import { namesClaim } from "../model/pod-volume.ts";
import type { RejectionEvents } from "../pods/rejection-events.ts";

/**
 * Milliseconds that a node waits after one of its pods has changed: those that were scheduled together are one write.
 */
const podDelayMs = 20;

/** The connection between the watch of pods and the queues. */
export interface PodTriggers {
  /** It is known now which claims there are. */
  claimsKnown(): void;
  stop(): void;
}

/** Which change of a pod, a claim or Namespace makes which node due. */
export function connectPods(
  pods: Pods,
  storage: Pick<Storage, "claims" | "need">,
  nodesWithout: RejectionEvents["nodesWithout"],
  nodes: Pick<KeyedQueue, "addAfter">,
  yielder: Yielder,
): PodTriggers {
  const due = (pod: PodEntry) => {
    if (pod.nodeName === "" || pod.volumes.length === 0) return;
    if (namesClaim(pod)) storage.need(); // there is no intent before the claim is known
    nodes.addAfter(pod.nodeName, podDelayMs);
  };
  /** Few and seldom. What is read for the first time is looked at when all of it is known. */
  const onNamespace = ({ metadata: { name } }: KubeObject) => {
    if (!pods.complete()) return;
    for (const pod of pods.ofNamespace(name)) due(pod);
  };
  const cancels = [
    pods.pods.store.subscribe({
      onAdd: due,
      onUpdate: (before, after) => {
        // What it shows of its volumes is our own word.
        const { metadata: _, volumesReady: __, ...was } = before;
        const { metadata: ___, volumesReady: ____, ...is } = after;
        if (!sameJson(was, is)) due(after);
      },
      onDelete: due,
    }),
    pods.namespaces.store.subscribe({
      onAdd: onNamespace,
      onUpdate: (before, after) => {
        if (!sameJson(before.metadata.labels, after.metadata.labels)) onNamespace(after);
      },
      onDelete: onNamespace,
    }),
    storage.claims.store.subscribe({
      onAdd({ metadata: { namespace = "", name } }) {
        for (const node of nodesWithout(namespace, name)) nodes.addAfter(node, podDelayMs);
      },
    }),
  ];
  const ofClaims = createFullResync(yielder, function* () {
    for (const pod of pods.pods.store.list()) yield namesClaim(pod) && due(pod);
  });
  const { all, stop } = looking(ofClaims, cancels);
  return {
    claimsKnown: all,
    stop,
  };
}
