import { type ConditionInput, cut, mergeConditions, policiesCondition, settlingOf } from "../../api/conditions.ts";
import { isReason, type Reason } from "../../api/reasons.ts";
import { isOfNodeItself } from "../../api/source-traits.ts";
import type { FailingNode, NodeVolumeSetStatus } from "../../api/types.gen.ts";
import { listed } from "../../api/values/listed.ts";
import type { Conflict, SetOnNode } from "../model/node-input.ts";
import type { SetEntry } from "../model/projections.ts";
import type { SelectedNodes } from "../nodes/select-nodes.ts";
import { compareText } from "../util/canonical-json.ts";
import type { Rollout, RolloutNode } from "./rollout.ts";

/** What the status of a set is made of. */
export interface SetStatusInput {
  readonly entry: SetEntry;
  /** Every node where the set wants or has something. */
  readonly nodes: readonly RolloutNode[];
  readonly rollout: Rollout;
  /** Intents that carry the set's label, and of these the ones whose Node is gone; for a set that is being deleted. */
  readonly remaining: { readonly intents: number; readonly lost: readonly string[] };
  /**
   * Whether the set selects any Node, also one that it has no mounts for. It goes through all Nodes: called only where
   * that decides.
   */
  readonly selected: () => SelectedNodes;
  /** Pods that use the volume; undefined: not known now, so that what was said stays. */
  readonly pods: number | undefined;
  /** Which admission policies are not in force, in a sentence. */
  readonly unguarded?: string | undefined;
}

const maxFailing = 10;

/**
 * The status of a set. Pure: equal input yields equal status, so that "nothing changes" is a comparison with the object
 * that the watch shows.
 * @param now milliseconds since the epoch, for conditions that change
 */
export function setStatus(input: SetStatusInput, now: number): NodeVolumeSetStatus {
  const { entry } = input;
  const generation = entry.metadata.generation ?? 0;
  const counted = input.nodes.filter(({ onNode }) => onNode.selected);
  const count = (is: (onNode: SetOnNode) => boolean) => counted.filter(({ onNode }) => is(onNode)).length;
  const counts: Counts = {
    desired: counted.length,
    updated: count((onNode) => onNode.state === "current"),
    ready: count((onNode) => onNode.availability.state === "available"),
    drifted: count((onNode) => onNode.availability.drifted),
    conflict: count((onNode) => onNode.conflicts.length > 0),
    failed: count((onNode) => onNode.obstacle !== undefined || onNode.availability.trouble?.blocked === true),
  };
  const troubles = counted.flatMap((node) => troubleOf(node) ?? []).sort(worstFirst);
  const failing = troubles.filter(({ reason }) => !onItsWay.has(reason));
  const wanted =
    entry.metadata.deletionTimestamp === undefined
      ? [...standing(input, counts, troubles), conflictCondition(counted)]
      : deleting(input);
  const conditions = [...wanted, ...policiesCondition(input.unguarded)];
  const pods = input.pods ?? entry.status.pods;
  return {
    observedGeneration: generation,
    summary: summaryOf(conditions, troubles, input.remaining.lost),
    ...counts,
    // Most sets are none that pods use.
    ...(pods !== undefined && (pods > 0 || entry.status.pods !== undefined) && { pods }),
    failing: failing.slice(0, maxFailing).map(({ blocked: _, stuck: __, ...failure }) => failure),
    conditions: mergeConditions(entry.status.conditions, conditions, generation, now),
  };
}

type Counts = { [K in "desired" | "updated" | "ready" | "drifted" | "conflict" | "failed"]: number };

interface Trouble extends FailingNode {
  /** Somebody must change something. */
  readonly blocked: boolean;
  /**
   * And what is blocked is the newest spec: a node that still has an older one may be well once it has been changed.
   */
  readonly stuck: boolean;
}

/** Reasons of nodes that are not Ready yet, with nothing in their way. */
const onItsWay: ReadonlySet<string> = new Set<Reason>(["NotObserved", "NotGranted", "Progressing", "Unmounting"]);

function troubleOf({ node, onNode }: RolloutNode): Trouble | undefined {
  const entry = (reason: string, message: string, blocked: boolean, stuck = blocked) => ({
    node,
    // Of a mount it is whatever the node has written.
    reason: cut(reason, 128),
    blocked,
    stuck,
    ...(message !== "" && { message: cut(message, 512) }),
  });
  const { conflicts, obstacle, availability, waitsFor } = onNode;
  const [conflict] = conflicts;
  if (conflict !== undefined) return entry("Conflict", conflictText(conflict), true);
  if (obstacle !== undefined) return entry(obstacle.reason, obstacle.message, true);
  const { trouble } = availability;
  if (trouble !== undefined) {
    return entry(trouble.reason, trouble.message, trouble.blocked, trouble.blocked && onNode.state === "current");
  }
  if (waitsFor !== undefined)
    return entry("Progressing", `set ${waitsFor} still holds a path that this set specifies`, false);
  if (availability.state !== "available") return entry("Progressing", "the intent is being written", false);
  return undefined;
}

/** Those who need somebody to do something first, then by name. */
function worstFirst(a: Trouble, b: Trouble): number {
  return Number(b.blocked) - Number(a.blocked) || compareText(a.node, b.node);
}

/** Ready, and what kstatus wants beside it. */
function standing(input: SetStatusInput, counts: Counts, troubles: readonly Trouble[]): ConditionInput[] {
  const ready = readyCondition(input, counts, troubles);
  return [ready, ...(ready.reason === "NoNodesSelected" ? settlingOf(ready) : settling(input, counts, troubles))];
}

const noNodes = {
  none: "no Node is selected by spec.nodeSelector, spec.affinity and spec.tolerations",
  cordoned:
    "each Node that spec.nodeSelector, spec.affinity and spec.tolerations select is cordoned, and the set releases its volume then (spec.drainPolicy)",
};

function readyCondition(
  { entry, selected }: SetStatusInput,
  counts: Counts,
  troubles: readonly Trouble[],
): ConditionInput {
  const ready = (status: "True" | "False", reason: Reason, message: string) =>
    ({ type: "Ready", status, reason, message }) as const;
  if (entry.spec === undefined) {
    return ready("False", "Invalid", invalidMessage(entry));
  }
  const hasNoMounts = entry.spec.mounts.length === 0 && !isOfNodeItself(entry.spec.volume);
  const nodes = hasNoMounts || counts.desired === 0 ? selected() : "some";
  if (hasNoMounts ? nodes !== "some" : counts.desired === 0)
    return ready("False", "NoNodesSelected", noNodes[nodes === "cordoned" ? "cordoned" : "none"]);
  if (hasNoMounts) {
    const forPods = entry.spec.allowedNamespaces === undefined ? "" : ": it is where pods use it, and only there";
    return ready("True", "NoConsumers", `the set has no mounts${forPods}`);
  }
  const all = counts.ready === counts.desired && counts.updated === counts.desired;
  if (all && counts.conflict === 0 && counts.failed === 0) {
    return ready("True", "AllReady", `ready on ${nodesText(counts.desired)}`);
  }
  const [worst] = troubles;
  const example =
    worst === undefined ? "" : `; ${worst.node}: ${worst.reason}${worst.message ? `: ${worst.message}` : ""}`;
  const message = `ready on ${counts.ready} of ${nodesText(counts.desired)}, newest spec on ${counts.updated}${example}`;
  if (counts.conflict > 0) return ready("False", "Conflict", message);
  if (entry.spec.suspend) return ready("False", "Suspended", message);
  if (counts.ready < counts.desired) return ready("False", "NodesNotReady", message);
  // Every node has what it had, and gets nothing new: why is all that there is to say.
  const isOld = counts.updated < counts.desired || worst === undefined || !isReason(worst.reason);
  return ready("False", isOld ? "RollingOut" : (worst.reason as Reason), message);
}

function invalidMessage({ invalid = "not understood" }: SetEntry): string {
  return `${invalid}; what is mounted stays as it is`;
}

/** Stalled if somebody must do something, else Reconciling while something is on its way. */
function settling({ entry, rollout }: SetStatusInput, counts: Counts, troubles: readonly Trouble[]): ConditionInput[] {
  const { pausedBy } = rollout;
  const condition = (type: "Reconciling" | "Stalled", reason: Reason, message: string): ConditionInput[] => [
    { type, status: "True", reason, message },
  ];
  if (entry.spec === undefined) return condition("Stalled", "Invalid", invalidMessage(entry));
  if (pausedBy !== undefined) {
    const cause = `${pausedBy.node}: ${pausedBy.reason}: ${pausedBy.message}`;
    const message = `${nodesText(rollout.outdated)} left with an older spec, because of ${cause}`;
    return condition("Stalled", "RolloutPaused", message);
  }
  const stuck = troubles.find((trouble) => trouble.stuck);
  if (stuck !== undefined) {
    const reason = isReason(stuck.reason) ? stuck.reason : "NodesNotReady";
    return condition("Stalled", reason, `${stuck.node}: ${stuck.message ?? stuck.reason}`);
  }
  const left = counts.desired - counts.updated;
  if (left > 0) return condition("Reconciling", "RollingOut", `${nodesText(left)} left without the newest spec`);
  if (counts.ready < counts.desired && !entry.spec.suspend) {
    return condition("Reconciling", "NodesNotReady", "every node has the newest spec, not every node is ready");
  }
  return [];
}

/** Reasons of Ready that stand for what single nodes say. */
const ofNodes: ReadonlySet<string> = new Set<Reason>(["NodesNotReady", "RollingOut", "Conflict", "NodeLost"]);

/** One look for people: why it is Ready or not, and the first node that says so. */
function summaryOf(
  conditions: readonly ConditionInput[],
  troubles: readonly Trouble[],
  lost: readonly string[],
): string {
  const reason = conditions.find(({ type }) => type === "Ready")?.reason ?? "NotObserved";
  if (!ofNodes.has(reason)) return reason;
  const all = reason === "NodeLost" ? lost.map((node) => ({ node, reason })) : troubles;
  const meant = reason === "Conflict" ? all.filter((trouble) => trouble.reason === reason) : all;
  const first = meant.find((trouble) => !onItsWay.has(trouble.reason)) ?? meant[0];
  if (first === undefined) return reason;
  const more = meant.filter((trouble) => trouble.reason === first.reason).length - 1;
  return `${first.reason} on ${first.node}${more === 0 ? "" : ` and ${more} more`}`;
}

function conflictCondition(nodes: readonly RolloutNode[]): ConditionInput {
  const sorted = [...nodes].sort((a, b) => compareText(a.node, b.node));
  const inConflict = sorted.filter(({ onNode }) => onNode.conflicts.length > 0);
  const [first] = inConflict;
  const conflict = first?.onNode.conflicts[0];
  if (first === undefined || conflict === undefined) {
    return { type: "Conflict", status: "False", reason: "NoConflict", message: "no other set is in the way" };
  }
  const more = inConflict.length === 1 ? "" : ` and ${inConflict.length - 1} more`;
  const message = `${conflictText(conflict)}, on node ${first.node}${more}`;
  return { type: "Conflict", status: "True", reason: "Conflict", message };
}

function conflictText(conflict: Conflict): string {
  if (conflict.paths !== undefined) {
    const { own, other } = conflict.paths;
    if (own === other) return `set ${conflict.with} uses ${own}, too`;
    return `set ${conflict.with} uses ${other}, ${own.length < other.length ? "beneath" : "above"} ${own}`;
  }
  return conflict.over === "exchange"
    ? `set ${conflict.with} has a path that this set specifies, and waits for one that this set has`
    : `set ${conflict.with} uses the same volume with other settings`;
}

function deleting({ remaining }: SetStatusInput): ConditionInput[] {
  const { intents, lost } = remaining;
  const held = `${intents} ${intents === 1 ? "node has" : "nodes have"} not released the volume yet`;
  const gone = lost.length === 0 ? "" : `; no Node any more: ${listed(lost, 3)}`;
  const reason: Reason = lost.length > 0 && lost.length === intents ? "NodeLost" : "Deleting";
  const message = `${held}${gone}`;
  const ready: ConditionInput = { type: "Ready", status: "False", reason, message };
  return [ready, ...settlingOf(ready)];
}

function nodesText(count: number): string {
  return count === 1 ? "1 node" : `${count} nodes`;
}
