import type { KubeObject } from "../../api/meta.ts";
import type { KeyedQueue } from "../../kube/keyed-queue.ts";
import { sameJson } from "../../kube/same-json.ts";
import type { Cancel } from "../../ports.ts";
import type { PodEntry } from "./pod-entry.ts";
import type { Pods } from "./pods.ts";

/** Milliseconds that a node waits after one of its pods has changed: those that were scheduled together are one write. */
const podDelayMs = 20;

/** Which change of a pod or Namespace makes which node due. */
export function connectPods(pods: Pods, nodes: Pick<KeyedQueue, "addAfter">): Cancel {
  const due = ({ nodeName, volumes }: PodEntry) => {
    if (nodeName !== "" && volumes.length > 0) nodes.addAfter(nodeName, podDelayMs);
  };
  /** Few and seldom. What is read for the first time is looked at when all of it is known. */
  const onNamespace = ({ metadata: { name } }: KubeObject) => {
    if (!pods.complete()) return;
    for (const pod of pods.pods.store.list()) if (pod.metadata.namespace === name) due(pod);
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
  ];
  return () => {
    for (const cancel of cancels) cancel();
  };
}
