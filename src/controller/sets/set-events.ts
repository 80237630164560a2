import { type ConditionType, findCondition } from "../../api/conditions.ts";
import type { Reason } from "../../api/reasons.ts";
import type { Condition, NodeVolumeSetStatus } from "../../api/types.gen.ts";

/** An Event about a set. */
export interface SetEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

/**
 * What people are told when the status of a set changes: each transition once, which is a condition that gets another
 * status or another reason. Pure.
 */
export function setEvents(before: NodeVolumeSetStatus, after: NodeVolumeSetStatus): SetEvent[] {
  const became = (type: ConditionType, status: "True" | "False"): Condition[] => {
    const old = findCondition(before.conditions, type);
    const now = findCondition(after.conditions, type);
    const is = now?.status === status && !(old?.status === status && old.reason === now.reason);
    return is ? [now] : [];
  };
  const wasStalled = findCondition(before.conditions, "Stalled")?.status === "True";
  const warnings = [
    ...became("Conflict", "True"),
    // Of a conflict the condition of that name has told, with the node.
    ...became("Stalled", "True").filter(({ reason }) => reason !== ("Conflict" satisfies Reason)),
    ...became("PoliciesInForce", "False"),
  ];
  // That a set which nothing was wrong with has no mounts is no news.
  const ready = became("Ready", "True").filter(({ reason }) => wasStalled || reason === ("AllReady" satisfies Reason));
  return [...warnings.map(eventOf("Warning")), ...ready.map(eventOf("Normal"))];
}

function eventOf(type: SetEvent["type"]): (condition: Condition) => SetEvent {
  return ({ reason, message }) => ({ type, reason, message: message ?? "" });
}
