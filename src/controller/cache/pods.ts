import type { KubeObject } from "../../api/meta.ts";
import { type Resource, resource } from "../../api/names.ts";
import type { Transport } from "../../kube/client/transport.ts";
import { createReflector, type Reflector } from "../../kube/watch/reflector.ts";
import type { System } from "../../ports.ts";
import { notEnded, type PodEntry, projectNamespace, projectPod } from "../model/pod-entry.ts";
import { setOf } from "../model/pod-volume.ts";
import { createWatchGroup, type WatchGroup } from "./watch-group.ts";

/**
 * The pods that use a volume of ours or name a claim, and the Namespaces that they are in. Nobody else waits for them:
 * in a cluster where they cannot be read, sets have their mounts, and what pods have stays as it is (law L8).
 */
export interface Pods extends WatchGroup {
  readonly pods: Reflector<PodEntry>;
  readonly namespaces: Reflector<KubeObject>;
  /** Those that were scheduled to a node. */
  ofNode(node: string): Iterable<PodEntry>;
  /** Those that ask for the volume of a set, wherever they are. */
  ofSet(set: string): Iterable<PodEntry>;
  /** Those of a namespace that ask for a volume of ours. */
  ofNamespace(namespace: string): Iterable<PodEntry>;
}

/** Dependencies of watching pods. */
export interface PodsDeps {
  readonly system: System;
  readonly transport: Transport;
  readonly onRestart: (resource: Resource, why: string) => void;
}

/**
 * The watch of pods that have not ended, with indexes by node, set and claim; only pods with volumes of ours, or of
 * claims, are kept.
 */
export function createPods({ system, transport, onRestart }: PodsDeps): Pods {
  const pods = createReflector<PodEntry>({
    system,
    transport,
    resource: resource.pods,
    fieldSelector: notEnded,
    project: projectPod,
    onRestart: (why) => onRestart(resource.pods, why),
  });
  const namespaces = createReflector<KubeObject>({
    system,
    transport,
    resource: resource.namespaces,
    project: projectNamespace,
    onRestart: (why) => onRestart(resource.namespaces, why),
  });
  const byNode: Groups = new Map();
  const bySet: Groups = new Map();
  const byNamespace: Groups = new Map();

  function add(pod: PodEntry): void {
    if (pod.volumes.length > 0) put(byNamespace, pod.metadata.namespace ?? "", pod);
    if (pod.nodeName !== "") put(byNode, pod.nodeName, pod);
    for (const set of setsOf(pod)) put(bySet, set, pod);
  }
  function remove(pod: PodEntry): void {
    take(byNamespace, pod.metadata.namespace ?? "", pod);
    take(byNode, pod.nodeName, pod);
    for (const set of setsOf(pod)) take(bySet, set, pod);
  }
  const cancel = pods.store.subscribe({
    onAdd: add,
    onUpdate(before, after) {
      remove(before);
      add(after);
    },
    onDelete: remove,
  });

  const all = [pods, namespaces] as unknown as Reflector<never>[];
  const group = createWatchGroup(system.log, "pods and namespaces", all);
  return {
    ...group,
    pods,
    namespaces,
    ofNode: (node) => byNode.get(node)?.values() ?? [],
    ofSet: (set) => bySet.get(set)?.values() ?? [],
    ofNamespace: (namespace) => byNamespace.get(namespace)?.values() ?? [],
    stop() {
      cancel();
      group.stop();
    },
  };
}

/** The sets that a pod names. */
function setsOf({ volumes }: PodEntry): Set<string> {
  return new Set(volumes.flatMap((volume) => setOf(volume) ?? []));
}

/** By UID, as the last state of an object is another one than what was known of it. */
type Groups = Map<string, Map<string, PodEntry>>;

function put(groups: Groups, key: string, pod: PodEntry): void {
  groups.set(key, (groups.get(key) ?? new Map<string, PodEntry>()).set(pod.metadata.uid ?? "", pod));
}

function take(groups: Groups, key: string, pod: PodEntry): void {
  const group = groups.get(key);
  group?.delete(pod.metadata.uid ?? "");
  if (group?.size === 0) groups.delete(key);
}
