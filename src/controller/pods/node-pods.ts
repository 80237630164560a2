import { gidOf } from "../../kube/objects/pod-groups.ts";
import type { Pods } from "../cache/pods.ts";
import { claimObjectsOf, type Storage } from "../cache/storage.ts";
import { resolveClaim } from "../claims/resolve-claim.ts";
import type { NodePods } from "../model/node-input.ts";

/** What is known of the pods of a node; undefined while not all of them are. */
export function nodePodsOf(
  pods: Pick<Pods, "complete" | "ofNode" | "namespaces">,
  storage: Storage,
  node: string,
): NodePods | undefined {
  if (!pods.complete()) return undefined;
  const objects = claimObjectsOf(storage);
  return {
    entries: [...pods.ofNode(node)],
    labelsOf(namespace) {
      const found = pods.namespaces.store.get(namespace);
      return found && (found.metadata.labels ?? {});
    },
    hasClaim(namespace, name) {
      return storage.complete() ? objects.claim(namespace, name) !== undefined : undefined;
    },
    groupOf({ persistentVolumeClaim }) {
      if (persistentVolumeClaim === undefined) return undefined;
      const bound = resolveClaim(persistentVolumeClaim, objects);
      const gid = "claim" in bound ? gidOf(bound.persistentVolume) : undefined;
      return "claim" in bound && gid !== undefined
        ? { persistentVolume: bound.persistentVolume.metadata.name, gid }
        : undefined;
    },
    isForOnePod({ csi, persistentVolumeClaim }) {
      if (csi !== undefined) return csi.accessMode === "ReadWriteOncePod";
      if (persistentVolumeClaim === undefined) return false;
      const bound = resolveClaim(persistentVolumeClaim, objects);
      const modes = "claim" in bound ? bound.persistentVolume.accessModes : [];
      return modes.length > 0 && modes.every((mode) => mode === "ReadWriteOncePod");
    },
  };
}
