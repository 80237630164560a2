import { findCondition } from "../../api/conditions.ts";
import type { NodeVolumeIntentStatus } from "../../api/types.gen.ts";
import type { VolumePlan } from "../model/volume-plan.ts";
import type { AgentStatus } from "./status-context.ts";
import { summaryOf } from "./volume-summary.ts";

const transientStates: ReadonlySet<string> = new Set(["Staging", "Mounting", "Updating", "Unmounting"]);

/**
 * PURE. Whether a state will end by itself, and soon. Not, if what is shown says that the volume is ready: that claims
 * more than is so, and is corrected within the usual time (law L10).
 */
export function isTransientState(before: NodeVolumeIntentStatus, after: AgentStatus): boolean {
  const { state, waiting, drift, lastError } = after;
  const isHindered = waiting !== undefined || drift !== undefined || lastError !== undefined;
  if (state === undefined || isHindered || isReady(before)) return false;
  return endsByItself(state, findCondition(after.conditions, "Ready")?.reason);
}

/**
 * PURE. Whether a step begins or runs that makes of the status a passing one, told without making the status: if this
 * is so, isTransientState is (test/laws/passing.test.ts).
 */
export function isUnderWay(before: NodeVolumeIntentStatus, volume: VolumePlan): boolean {
  if (before.lastError !== undefined || isReady(before)) return false;
  const { phase, running, operation, failure, stuckOperation, problems } = volume;
  const isHindered =
    failure !== undefined || stuckOperation !== undefined || problems.volume !== undefined || problems.targets.size > 0;
  if (isHindered || (phase !== "setUp" && phase !== "tearDown")) return false;
  if ((running ?? operation?.kind ?? "observe") === "observe") return false;
  const { ready, state, reason, drift } = summaryOf(volume);
  return drift === undefined && ready !== "True" && endsByItself(state, reason);
}

/** Degraded does as well while of several mounts some are there, and a step for the next one is under way. */
function endsByItself(state: string, readyReason: string | undefined): boolean {
  return transientStates.has(state) || (state === "Degraded" && readyReason === "Progressing");
}

/** PURE. Whether a status says that the volume is ready. */
export function isReady({ conditions }: NodeVolumeIntentStatus | AgentStatus): boolean {
  return findCondition(conditions, "Ready")?.status === "True";
}
