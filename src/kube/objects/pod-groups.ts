import { annotation } from "../../api/names.ts";
import { arrayIn, recordIn } from "../json.ts";

/**
 * The groups that all processes of a pod are in by its spec: fsGroup, supplementalGroups, and runAsGroup if each
 * container has the same. Pure.
 */
export function podGroups(podSpec: unknown): number[] {
  const context = recordIn(podSpec, "securityContext");
  const containers = ["initContainers", "containers"].flatMap((list) => arrayIn(podSpec, list));
  const ofAll = new Set(
    containers.map((one) => recordIn(one, "securityContext")?.["runAsGroup"] ?? context?.["runAsGroup"]),
  );
  const groups = [context?.["fsGroup"], ...arrayIn(context, "supplementalGroups"), ...(ofAll.size === 1 ? ofAll : [])];
  return groups.filter((one) => typeof one === "number");
}

/**
 * The group that a PersistentVolume asks for by its annotation; undefined if it asks for none, or for what is no
 * number, which kubelet passes over. Pure.
 */
export function gidOf(persistentVolume: {
  readonly metadata: { readonly annotations?: { readonly [key: string]: string } };
}): number | undefined {
  const text = persistentVolume.metadata.annotations?.[annotation.gid] ?? "";
  const gid = /^\d+$/.test(text) ? Number(text) : undefined;
  return gid !== undefined && Number.isSafeInteger(gid) ? gid : undefined;
}

/** What to write into a pod that lacks the group of a PersistentVolume. Pure. */
export function lacksGroup(persistentVolume: string, gid: number): string {
  const why = `PersistentVolume ${persistentVolume} requires group ${gid} by its annotation ${annotation.gid}, which a CSI driver cannot give a pod`;
  return `${why}: .spec.securityContext.supplementalGroups of the pod must have ${gid}`;
}
