import { findCondition } from "../../api/conditions.ts";
import type { NodeVolumeIntent, NodeVolumeSet } from "../../api/types.gen.ts";
import { failingWithout } from "../explain/explain-set.ts";

/** One thing that is not as it is wanted. */
export interface Difference {
  readonly node: string;
  readonly volume: string;
  /** A path, or a pod with its volume; "" is the volume as a whole. */
  readonly target: string;
  readonly wanted: string;
  readonly actual: string;
  readonly reason: string;
  readonly message: string;
}

/** PURE. Where what is on the node differs from what is wanted there, of one volume. */
export function differencesOf({ metadata, spec, status = {} }: NodeVolumeIntent): Difference[] {
  const base = { node: spec.nodeName, volume: spec.volumeName };
  const why =
    status.waiting?.reason ??
    status.attach?.reason ??
    findCondition(status.conditions, "Ready")?.reason ??
    "NotObserved";
  const words = status.waiting?.message ?? status.attach?.message ?? "";
  const leaving = metadata.deletionTimestamp !== undefined;
  const lost = status.agentState?.state === "Lost" ? lastKnown(status.agentState.since) : undefined;
  const found: Difference[] = [];
  const wantedPaths = new Set(leaving ? [] : spec.mounts.map(({ path }) => path));
  for (const mount of leaving ? [] : spec.mounts) {
    const actual = status.mounts?.find(({ path }) => path === mount.path);
    const shown = actual?.state ?? "Unknown";
    const isAsWanted = shown === "Mounted" && actual?.drift === undefined;
    if (isAsWanted && lost === undefined) continue;
    const reason = actual?.drift ?? actual?.reason ?? why;
    const told = isAsWanted ? lost : { actual: shown, reason, message: actual?.message ?? words };
    if (told !== undefined) found.push({ ...base, target: mount.path, wanted: "Mounted", ...told });
  }
  for (const { path, state, drift, reason, message } of status.mounts ?? []) {
    if (wantedPaths.has(path) || state === "Absent") continue;
    found.push({
      ...base,
      target: path,
      wanted: "Absent",
      actual: state,
      reason: drift ?? reason ?? why,
      message: message ?? words,
    });
  }
  for (const pod of leaving ? [] : (spec.pods ?? [])) {
    const actual = status.pods?.find(({ uid, volume }) => uid === pod.uid && volume === pod.volume);
    const shown = actual?.state ?? "Unknown";
    const isAsWanted = shown === "Mounted" && actual?.drift === undefined;
    if (isAsWanted && lost === undefined) continue;
    const target = `pod ${pod.namespace}/${pod.name}:${pod.volume}`;
    const reason = actual?.drift ?? actual?.reason ?? (shown === "Pending" ? "KubeletHasNotAsked" : why);
    const told = isAsWanted ? lost : { actual: shown, reason, message: actual?.message ?? words };
    if (told !== undefined) found.push({ ...base, target, wanted: "Mounted", ...told });
  }
  if (leaving && found.length === 0 && status.inUse !== false)
    found.push({
      ...base,
      target: "",
      wanted: "Released",
      actual: status.state ?? "Unknown",
      reason: why,
      message: words,
    });
  if (found.length === 0 && status.drift !== undefined)
    found.push({
      ...base,
      target: "",
      wanted: "as it was left",
      actual: status.state ?? "Unknown",
      reason: status.drift.class,
      message: status.drift.message,
    });
  return found;
}

/** Of what was mounted when its agent fell silent: nobody can say how it is now. */
function lastKnown(since: string): Pick<Difference, "actual" | "reason" | "message"> {
  return {
    actual: "Unknown",
    reason: "AgentLost",
    message: `mounted at its agent's last report; lost since ${since}`,
  };
}

/**
 * PURE. Where a set has nothing because no intent was written: why, of each node that it names, and of itself where
 * that is nobody's. Nothing of a set that selects no node: it wants nothing there. @param node only what is to be there
 */
export function differencesOfSet(
  set: NodeVolumeSet,
  intents: readonly NodeVolumeIntent[],
  node: string | undefined,
): Difference[] {
  const { metadata, spec, status = {} } = set;
  if (metadata.deletionTimestamp !== undefined) return [];
  const base = { volume: metadata.name, wanted: "Mounted" };
  const paths = spec.mounts.length === 0 ? [""] : spec.mounts.map(({ path }) => path);
  const without = failingWithout(set, intents).filter((failing) => node === undefined || failing.node === node);
  const rows = without.flatMap(({ node: where, reason, message = "" }) =>
    paths.map((target) => ({ ...base, node: where, target, actual: "Absent", reason, message })),
  );
  if (rows.length > 0 || intents.length > 0 || node !== undefined) return rows;
  const ready = findCondition(status.conditions, "Ready");
  if (ready?.status === "True" || ready?.reason === "NoNodesSelected") return [];
  const isSeen = status.observedGeneration === metadata.generation;
  const reason = isSeen ? (ready?.reason ?? "NotObserved") : "NotObserved";
  const message = isSeen ? (ready?.message ?? "") : "the controller has not read the newest spec";
  return paths.map((target) => ({ ...base, node: "", target, actual: "Unknown", reason, message }));
}
