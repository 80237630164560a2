import { type ConditionType, findCondition } from "../api/conditions.ts";
import type { Reason } from "../api/reasons.ts";
import type { NodeVolumeSetStatus } from "../api/types.gen.ts";

export interface SetEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: Reason;
  readonly message: string;
}

/** What people are told when the status of a set changes: each transition once. Pure. */
export function setEvents(before: NodeVolumeSetStatus, after: NodeVolumeSetStatus): SetEvent[] {
  const became = (type: ConditionType, status: string, reason: Reason) => {
    const old = findCondition(before.conditions, type);
    const now = findCondition(after.conditions, type);
    const is = now?.status === status && now.reason === reason;
    return is && !(old?.status === status && old.reason === reason) ? now.message : undefined;
  };
  const told: [SetEvent["type"], Reason, string | undefined][] = [
    ["Warning", "Conflict", became("Conflict", "True", "Conflict")],
    ["Warning", "Invalid", became("Stalled", "True", "Invalid")],
    ["Warning", "RolloutPaused", became("Stalled", "True", "RolloutPaused")],
    ["Warning", "ClaimNotAllowed", became("Stalled", "True", "ClaimNotAllowed")],
    ["Warning", "PolicyMissing", became("PoliciesInForce", "False", "PolicyMissing")],
    ["Normal", "AllReady", became("Ready", "True", "AllReady")],
  ];
  return told.flatMap(([type, reason, message]) => (message === undefined ? [] : [{ type, reason, message }]));
}
