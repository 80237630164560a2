import type { KubeObject } from "../../api/meta.ts";
import { resource } from "../../api/names.ts";
import type { Reflector } from "../../kube/watch/reflector.ts";
import { notEnded, type PodEntry, projectNamespace, projectPod } from "../model/pod-entry.ts";
import { setOf } from "../model/pod-volume.ts";
import { type WatchDeps, watch } from "./watch.ts";
import { createWatchGroup, type WatchGroup } from "./watch-group.ts";

/**
 * The pods that have not ended and use a volume of ours or name a claim, and the Namespaces that they are in. Nobody
 * else waits for them: in a cluster where they cannot be read, sets have their mounts, and what pods have stays as it
 * is (law L8).
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

/** The watches, not started yet, with indexes of the pods that follow them. */
export function createPods(deps: WatchDeps): Pods {
  const pods = watch(deps, resource.pods, projectPod, { fieldSelector: notEnded });
  const namespaces = watch(deps, resource.namespaces, projectNamespace);
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
  const group = createWatchGroup(deps.system.log, "pods and namespaces", all);
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
