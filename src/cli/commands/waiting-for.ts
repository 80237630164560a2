import { findCondition } from "../../api/conditions.ts";
import type { NodeVolumeIntent, NodeVolumeSet } from "../../api/types.gen.ts";
import { listed } from "../../api/values/listed.ts";
import { conditionOf, type Raw } from "../../explain/facts.ts";
import { stringIn } from "../../kube/json.ts";
import { hasStarted, nodeOf, phaseOf } from "../explain/pod-facts.ts";

/** PURE. Why a set is not ready; undefined once it is, on every node that it selects, with its newest spec. */
export function setNotReady(set: NodeVolumeSet | undefined): string | undefined {
  if (set === undefined) return "the set is not there";
  const { metadata, status = {} } = set;
  if (metadata.deletionTimestamp !== undefined) return "the set is being deleted";
  if (status.observedGeneration !== metadata.generation) return "the controller has not read the newest spec";
  const ready = findCondition(status.conditions, "Ready");
  if (ready?.status === "True") return undefined;
  // Of the set as a whole: its nodes are not counted, and say nothing of it.
  if (ready?.reason === "NoNodesSelected" || ready?.reason === "Invalid") return `${ready.message} (${ready.reason})`;
  const failing = (status.failing ?? []).map(
    ({ node, reason, message }) => `${node}: ${reason}${message === undefined ? "" : ` (${message})`}`,
  );
  return [
    `${status.ready ?? 0} of ${status.desired ?? 0} nodes are ready, ${ready?.reason ?? "Unknown"}`,
    ...(failing.length === 0 ? [] : [listed(failing, 3, true, "; ")]),
  ].join("; ");
}

/** PURE. Why volumes are not ready, the first three of them; undefined once all are. */
export function volumesNotReady(intents: readonly NodeVolumeIntent[]): string | undefined {
  if (intents.length === 0) return "there is no intent for it";
  const open = intents.filter(({ metadata, status }) => {
    const isNew = status?.observedGeneration === metadata.generation && status?.observedUID === metadata.uid;
    return !isNew || findCondition(status?.conditions, "Ready")?.status !== "True";
  });
  return open.length === 0 ? undefined : said(open);
}

/** PURE. Which volumes are still there; undefined once none is. */
export function volumesNotReleased(intents: readonly NodeVolumeIntent[]): string | undefined {
  return intents.length === 0 ? undefined : said(intents);
}

function said(intents: readonly NodeVolumeIntent[]): string {
  const words = intents.map(({ metadata, spec, status = {} }) => {
    const waiting = status.waiting ?? status.attach;
    const wanted = metadata.deletionTimestamp === undefined ? "" : ", being released";
    const why =
      waiting?.reason === undefined
        ? (status.state ?? "not observed yet")
        : `${waiting.reason} (${waiting.message ?? ""})`;
    return `${spec.volumeName} on ${spec.nodeName}: ${why}${wanted}`;
  });
  return listed(words, 3, true, "; ");
}

/** PURE. Why a pod's volumes are not all mounted; undefined once its containers may start. */
export function podNotReady(pod: Raw | undefined): string | undefined {
  if (pod === undefined) return "the pod is not there";
  if (hasStarted(pod) || stringIn(conditionOf(pod, "PodReadyToStartContainers"), "status") === "True") return undefined;
  const own = conditionOf(pod, "nodevolume.dev/VolumesReady");
  const word = stringIn(own, "message");
  if (word !== undefined && stringIn(own, "status") !== "True") return word;
  if (nodeOf(pod) !== undefined) return `its volumes are not mounted yet, ${phaseOf(pod)} on ${nodeOf(pod)}`;
  const scheduled = conditionOf(pod, "PodScheduled");
  return `it has no node: ${stringIn(scheduled, "message") ?? stringIn(scheduled, "reason") ?? "not scheduled yet"}`;
}

/** PURE. What still names a pod; undefined once nothing does. */
export function podNotReleased(
  pod: { readonly namespace: string; readonly name: string },
  intents: readonly NodeVolumeIntent[],
): string | undefined {
  const left = intents.flatMap(({ spec, status }) => {
    const named = (spec.pods ?? []).filter(({ namespace, name }) => namespace === pod.namespace && name === pod.name);
    const bound = named.some(({ uid }) => status?.pods?.some((entry) => entry.uid === uid && entry.state !== "Absent"));
    return named.length === 0
      ? []
      : [`${spec.volumeName} on ${spec.nodeName} ${bound ? "is still bound into it" : "still names it"}`];
  });
  return left.length === 0 ? undefined : left.join("; ");
}
