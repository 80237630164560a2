import type { ClaimObjects } from "../claims/resolve-claim.ts";
import { resolveClaim } from "../claims/resolve-claim.ts";
import type { Pods } from "./pods.ts";
import type { NodePods } from "./served.ts";

/** What is known of the pods of a node; undefined while not all of them are. */
export function nodePodsOf(
  pods: Pick<Pods, "complete" | "ofNode" | "namespaces">,
  claims: ClaimObjects,
  node: string,
): NodePods | undefined {
  if (!pods.complete()) return undefined;
  return {
    entries: [...pods.ofNode(node)],
    labelsOf(namespace) {
      const found = pods.namespaces.store.get(namespace);
      return found && (found.metadata.labels ?? {});
    },
    isForOnePod({ csi, persistentVolumeClaim }) {
      if (csi !== undefined) return csi.accessMode === "ReadWriteOncePod";
      if (persistentVolumeClaim === undefined) return false;
      const bound = resolveClaim(persistentVolumeClaim, claims);
      const modes = "claim" in bound ? bound.persistentVolume.accessModes : [];
      return modes.length > 0 && modes.every((mode) => mode === "ReadWriteOncePod");
    },
  };
}
