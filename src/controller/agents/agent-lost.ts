import { type ConditionType, findCondition, mergeConditions, timestamp } from "../../api/conditions.ts";
import type { Condition, NodeVolumeIntentStatus } from "../../api/types.gen.ts";
import { nextStep } from "../../explain/next-steps.ts";
import { agentLateSeconds, agentLeaseSeconds } from "../../kube/leases/lease.ts";
import { sameJson } from "../../kube/same-json.ts";
import type { Intent, StateEntry } from "../model/projections.ts";
import type { SignOfLife } from "./agent-leases.ts";

/** What is known of the agent of an intent's node. */
export interface AgentFacts {
  readonly life: SignOfLife;
  readonly nodeExists: boolean;
}

/** The controller's part of an intent's status that changes, as a merge patch. */
export type AgentStatePatch = Pick<NodeVolumeIntentStatus, "agentState" | "conditions">;

/**
 * The status that the controller writes for an agent that does not renew its Lease: agentState Lost and Ready Unknown,
 * without Reconciling and Stalled. When the agent renews again, only agentState is reset; the agent itself updates
 * Ready. undefined: no change. Pure.
 * @param now milliseconds since the epoch
 */
export function agentStatePatch(
  { metadata, status }: Intent,
  facts: AgentFacts,
  now: number,
): AgentStatePatch | undefined {
  const { state, expiredForMs } = facts.life;
  const wasLost = status.agentState?.state === "Lost";
  if (state === "live" && wasLost) return { agentState: { state: "Live", since: timestamp(now) } };
  if (state !== "lost") return undefined;
  const before = (status.conditions ?? []).find((condition) => condition.type === "Ready");
  // An agent that still writes although its Lease cannot be renewed knows better.
  if (wasLost && before?.status !== "Unknown") return undefined;
  const ready: Condition = {
    type: "Ready",
    status: "Unknown",
    observedGeneration: metadata.generation ?? 0,
    lastTransitionTime: before?.status === "Unknown" ? before.lastTransitionTime : timestamp(now),
    ...(facts.nodeExists ? agentLost : nodeLost),
  };
  if (wasLost && sameJson({ ...before, observedGeneration: 0 }, { ...ready, observedGeneration: 0 })) {
    return undefined;
  }
  const others = (status.conditions ?? []).filter(({ type }) => !agentsWord.has(type));
  const since = timestamp(now - expiredForMs);
  const agentState = wasLost && status.agentState !== undefined ? status.agentState : { state: "Lost" as const, since };
  return { agentState, conditions: [ready, ...others] };
}

/** Conditions by which the agent says how the volume is; the others are of the mount table as it was last seen. */
const agentsWord: ReadonlySet<string> = new Set<ConditionType>(["Ready", "Reconciling", "Stalled"]);

/** Reason and message of a node whose agent stopped renewing its Lease while the Node object exists. */
export const agentLost = {
  reason: "AgentLost" as const,
  message: "The agent of the node has not renewed its Lease; its mounts stay, and their state is unknown.",
};

const lateConsequence = `Its mounts stay. ${agentLeaseSeconds} s after the last renewal, their state counts as unknown.`;

/** Reason and message of a node whose agent is late, where the time of the last renewal stands beside them. */
export const agentLate = {
  reason: "AgentLate" as const,
  message: `The agent of the node has not renewed its Lease for ${agentLateSeconds} s or more. ${lateConsequence}`,
};

/**
 * PURE. The message of an Event that says so, which is read later, and alone: since when, and what to do. The same for
 * each time, so that the Event counts them.
 */
export function agentLateEvent(node: string): string {
  const since = `The agent of the node last renewed its Lease ${agentLateSeconds} s before this Event, or earlier.`;
  return `${since} ${lateConsequence} ${nextStep("AgentLate", { node })}`;
}

/**
 * Reason and message of a node whose agent stopped renewing its Lease and whose Node object is gone. Nothing is
 * released by that alone.
 */
export const nodeLost = {
  reason: "NodeLost" as const,
  message: "The Node is gone and its agent does not respond; the machine may still run and use the volume.",
};

/**
 * The status of a NodeVolumeState that the controller writes for an agent that does not renew its Lease: Ready and
 * Drained Unknown, because the agent's last report may be long outdated. The agent resets both with its next write.
 * undefined: no change. Pure.
 * @param saidBefore this was written since the Lease expired: a later write by the agent is newer
 * @param now milliseconds since the epoch
 */
export function lostStatePatch(
  { metadata, status }: StateEntry,
  { life, nodeExists }: AgentFacts,
  saidBefore: boolean,
  now: number,
): { conditions: Condition[] } | undefined {
  if (life.state !== "lost") return undefined;
  const why = nodeExists ? agentLost : nodeLost;
  const ready = findCondition(status.conditions, "Ready");
  if (saidBefore && ready?.status !== "Unknown") return undefined;
  const wanted = (["Ready", "Drained"] as const).map((type) => ({ type, status: "Unknown" as const, ...why }));
  const says = ({ type, status: is, reason }: (typeof wanted)[number]) => {
    const found = findCondition(status.conditions, type);
    return found?.status === is && found.reason === reason;
  };
  if (wanted.every(says)) return undefined;
  // Whatever else the node has written stays: the policy of acknowledgements refuses the controller to take it away.
  const others = (status.conditions ?? []).filter(({ type }) => !ofState.has(type));
  return { conditions: [...mergeConditions(status.conditions, wanted, metadata.generation ?? 0, now), ...others] };
}

/** Conditions by which the agent says how the node is. */
const ofState: ReadonlySet<string> = new Set<ConditionType>([
  ...(["Ready", "Reconciling", "Stalled"] as const),
  ...(["Drained", "PoliciesInForce"] as const),
]);

/** Whether a state says already that the agent of its node is lost. Pure. */
export function isKnownLost(state: StateEntry | undefined): boolean {
  const reason = findCondition(state?.status.conditions, "Ready")?.reason;
  return reason === agentLost.reason || reason === nodeLost.reason;
}
