import { isBlocked, isWaiting, type Reason } from "./reasons.ts";
import type { Condition } from "./types.gen.ts";
import { printable } from "./values/printable.ts";

/**
 * Condition types. Every kind has Ready; the others are there when they say something. Three are those of kstatus
 * (sigs.k8s.io/cli-utils/pkg/kstatus), by which Flux and kpt tell whether an object has settled, and Argo CD by
 * config/gitops/argocd/health.lua; at most one of Reconciling and Stalled is there, and then it is True:
 * - Ready: True if all is as wanted. Current for kstatus, if observedGeneration is the generation.
 * - Reconciling: it is not, and will be by itself or by somebody else's work. InProgress for kstatus.
 * - Stalled: it is not, and somebody must change something. Failed for kstatus.
 *
 * NodeVolumeIntent, written by the agent (and Ready=Unknown/AgentLost by the controller when the agent's Lease ran
 * out):
 * - Ready: every mount of the spec is there as wanted (Manage); the table is as wanted (Observe).
 * - Mounted: at least one mount of the spec is there, by the mount table.
 * - Drifted: the table differs from what the agent mounted.
 * - VolumeHealthy: False while the CSI driver says that something is wrong with the volume; there only then.
 *
 * NodeVolumeSet, written by the controller:
 * - Ready: every selected node is Ready with the newest spec.
 * - Conflict: another set wants the same path, or the same volume with other settings, on some node.
 *
 * NodeVolumeState, written by the agent (and Ready and Drained Unknown by the controller when its Lease ran out):
 * - Ready: the agent has read intents and mount table since it started.
 * - Drained: no grant left, nothing in use, every deletion acknowledged.
 *
 * NodeVolumeState, by the agent, and NodeVolumeSet, by the controller:
 * - PoliciesInForce: False while an admission policy of config/policy is missing; there only then.
 */
export type ConditionType =
  | "Ready"
  | "Reconciling"
  | "Stalled"
  | "Mounted"
  | "Drifted"
  | "Conflict"
  | "Drained"
  | "VolumeHealthy"
  | "PoliciesInForce";

/** A condition before its times are known. */
export interface ConditionInput {
  readonly type: ConditionType;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: Reason;
  readonly message: string;
}

/** What kstatus wants beside a Ready that is not True: Reconciling or Stalled, by the kind of its reason. */
export function settlingOf({ status, reason, message }: ConditionInput): ConditionInput[] {
  if (status === "True") return [];
  if (isBlocked(reason)) return [{ type: "Stalled", status: "True", reason, message }];
  return isWaiting(reason) ? [{ type: "Reconciling", status: "True", reason, message }] : [];
}

/** What is said of the admission policies: nothing while all are in force. */
export function policiesCondition(missing: string | undefined): ConditionInput[] {
  if (missing === undefined) return [];
  return [{ type: "PoliciesInForce", status: "False", reason: "PolicyMissing", message: missing }];
}

/**
 * `wanted` as conditions: lastTransitionTime moves only when the status changes, and a condition of `previous` that is
 * not wanted is dropped.
 * @param now milliseconds since the epoch
 */
export function mergeConditions(
  previous: readonly Condition[] | undefined,
  wanted: readonly ConditionInput[],
  observedGeneration: number,
  now: number,
): Condition[] {
  const isKnown = (input: ConditionInput) => previous?.some((c) => c.type === input.type && c.status === input.status);
  const time = wanted.every(isKnown) ? "" : timestamp(now);
  return wanted.map((input) => {
    const before = previous?.find((c) => c.type === input.type);
    const unchanged = before !== undefined && before.status === input.status;
    return {
      type: input.type,
      status: input.status,
      observedGeneration,
      lastTransitionTime: unchanged ? before.lastTransitionTime : time,
      reason: input.reason,
      message: cut(input.message, 1024),
    };
  });
}

/** A time as metav1.Time: seconds, UTC. */
export function timestamp(now: number): string {
  return `${new Date(now).toISOString().slice(0, 19)}Z`;
}

/**
 * `text` on one line, with at most `max` characters, the last one an ellipsis if it was cut. Half of a surrogate pair
 * is not left: the API server would store another character, and every look at the object would find a difference.
 */
export function cut(text: string, max: number): string {
  const line = printable(text);
  return line.length <= max ? line : `${line.slice(0, max - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

/** The condition of a type, if it is there. */
export function findCondition(
  conditions: readonly Condition[] | undefined,
  type: ConditionType,
): Condition | undefined {
  return conditions?.find((c) => c.type === type);
}
