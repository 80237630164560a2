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

type Told = Pick<Difference, "actual" | "reason" | "message">;

/** PURE. Where what is on the node differs from what is wanted there, of one volume. */
export function differencesOf({ metadata, spec, status = {} }: NodeVolumeIntent): Difference[] {
  const base = { node: spec.nodeName, volume: spec.volumeName };
  const why =
    status.waiting?.reason ??
    status.attach?.reason ??
    findCondition(status.conditions, "Ready")?.reason ??
    "NotObserved";
  const words = { reason: why, message: status.waiting?.message ?? status.attach?.message ?? "" };
  const leaving = metadata.deletionTimestamp !== undefined;
  const lost = status.agentState?.state === "Lost" ? lastKnown(status.agentState.since) : undefined;
  const found: Difference[] = [];
  const wantedPaths = new Set(leaving ? [] : spec.mounts.map(({ path }) => path));
  for (const { path: target } of leaving ? [] : spec.mounts) {
    const told = unlikeMounted(
      status.mounts?.find(({ path }) => path === target),
      words,
      lost,
    );
    if (told !== undefined) found.push({ ...base, target, wanted: "Mounted", ...told });
  }
  for (const { path, state, drift, reason = why, message = words.message } of status.mounts ?? []) {
    if (wantedPaths.has(path) || state === "Absent") continue;
    found.push({ ...base, target: path, wanted: "Absent", actual: state, reason: drift ?? reason, message });
  }
  for (const pod of leaving ? [] : (spec.pods ?? [])) {
    const actual = status.pods?.find(({ uid, volume }) => uid === pod.uid && volume === pod.volume);
    const pending = actual?.state === "Pending" ? { ...words, reason: "KubeletHasNotAsked" } : words;
    const told = unlikeMounted(actual, pending, lost);
    const target = `pod ${pod.namespace}/${pod.name}:${pod.volume}`;
    if (told !== undefined) found.push({ ...base, target, wanted: "Mounted", ...told });
  }
  const whole = { ...base, target: "", actual: status.state ?? "Unknown" };
  if (leaving && found.length === 0 && status.inUse !== false) found.push({ ...whole, wanted: "Released", ...words });
  if (found.length === 0 && status.drift !== undefined)
    found.push({ ...whole, wanted: "as it was left", reason: status.drift.class, message: status.drift.message });
  return found;
}

/**
 * What is wrong with a target that must be mounted; undefined if nothing is.
 * @param otherwise what is said where the target itself says nothing
 * @param lost what is said of all that is mounted, if the agent is lost
 */
function unlikeMounted(
  actual:
    | { readonly state: string; readonly drift?: string; readonly reason?: string; readonly message?: string }
    | undefined,
  otherwise: Pick<Difference, "reason" | "message">,
  lost: Told | undefined,
): Told | undefined {
  const { state = "Unknown", drift, reason, message } = actual ?? {};
  if (state === "Mounted" && drift === undefined) return lost;
  return { actual: state, reason: drift ?? reason ?? otherwise.reason, message: message ?? otherwise.message };
}

/** Of what was mounted when its agent fell silent: nobody can say how it is now. */
function lastKnown(since: string): Told {
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
