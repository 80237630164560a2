import { driftOf } from "./drift.ts";
import type { Plan, VolumePlan } from "./plan.ts";
import { standingOf } from "./standing.ts";

/** Something that happened to a volume, worth a log line and an event. */
export interface Transition {
  readonly volume: VolumePlan;
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

/** PURE. What changed from one plan to the next. */
export function transitions(before: Plan | undefined, after: Plan): Transition[] {
  return [...after.volumes.values()].flatMap((volume) => {
    const earlier = before?.volumes.get(volume.name);
    return [...driftChange(earlier, volume), ...standingChange(earlier, volume)];
  });
}

function driftChange(before: VolumePlan | undefined, after: VolumePlan): Transition[] {
  const drift = driftOf(after);
  if (drift === undefined || (before !== undefined && driftOf(before)?.class === drift.class)) return [];
  return [{ volume: after, type: "Warning", reason: "Drifted", message: drift.message }];
}

/** A volume that is found as it should be, when the agent starts, is no news. */
function standingChange(before: VolumePlan | undefined, after: VolumePlan): Transition[] {
  const was = before && standingOf(before);
  const is = standingOf(after);
  if (after.desired === undefined || (was?.state === is.state && was.reason === is.reason)) return [];
  if (is.reason === "Progressing" || is.reason === "NotGranted") return [];
  const good = is.ready === "True" || ["Released", "Retained", "Unmounting", "Suspended"].includes(is.reason);
  if (good && before === undefined) return [];
  return [{ volume: after, type: good ? "Normal" : "Warning", reason: is.reason, message: is.message || is.state }];
}
