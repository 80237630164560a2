/**
 * What a status says in one word, for people. The schema takes any word there, so that a value may be added without
 * another CRD: who reads one that it does not know goes by the conditions. The CRDs describe each; a test compares.
 */

/** status.state of an intent. */
export const intentStates = [
  ...(["Observed", "WaitingForGrant", "WaitingForAttach", "Waiting", "Staging", "Mounting", "Mounted"] as const),
  ...(["Degraded", "Updating", "Unmounting", "Released", "Retained", "Invalid", "Unknown"] as const),
] as const;
/** status.state of an intent. */
export type IntentState = (typeof intentStates)[number];

/**
 * PURE. The state of an intent as the label of a time series. An agent may write any word there: what is not known here
 * is Other, so that there are as many as are named.
 */
export function countedState(state: string | undefined): IntentState | "NotObserved" | "Other" {
  if (state === undefined) return "NotObserved";
  return intentStates.find((known) => known === state) ?? "Other";
}

/** PURE. The status of a condition of a Node as the label of a time series: its kubelet may write any word there. */
export function countedStatus(status: string): "true" | "false" | "unknown" {
  if (status === "True") return "true";
  return status === "False" ? "false" : "unknown";
}

/** status.mounts[].state. */
export const targetStates = ["Mounted", "Absent", "Uncertain", "Foreign", "Blocked"] as const;
/** State of one target in the status of an intent. */
export type TargetState = (typeof targetStates)[number];

/** status.pods[].state. */
export const podTargetStates = ["Pending", ...targetStates] as const;

/** status.drift.class, and drift of mounts and pods. */
export const driftClasses = [
  ...(["Missing", "Unexpected", "SourceDiffers", "OptionsDiffer", "Stacked", "Stale"] as const),
  ...(["ReadOnlyFlip", "PropagationDiffers"] as const),
] as const;
/** How a mount differs from its spec, in metrics and Events. */
export type DriftClass = (typeof driftClasses)[number];

/** status.agentState.state. */
export const agentStates = ["Live", "Lost"] as const;
