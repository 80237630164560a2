import { listed } from "../../api/values/listed.ts";
import type { Plan, VolumePlan } from "../model/volume-plan.ts";
import { orphanReason } from "./orphan-reason.ts";
import { newRefusals } from "./refused-group.ts";
import { hasPods, summaryOf } from "./volume-summary.ts";

/** Something that happened to a volume, worth a log line and an event. */
export interface Transition {
  readonly volume: VolumePlan;
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

/**
 * PURE. What changed from one plan to the next, by the volumes that were planned anew.
 * @param synced of the plan before
 */
export function transitions(synced: boolean, after: Plan): Transition[] {
  return [...after.changed].flatMap(([name, before]) => {
    const volume = after.volumes.get(name);
    if (volume === undefined) return [];
    // Nothing is known of a volume whose intent was not read yet.
    const earlier = synced || before?.desired !== undefined ? before : undefined;
    const orphaned = after.synced && isUnexplained(volume) && !isUnexplained(earlier);
    const changes = [
      ...driftChange(earlier, volume),
      ...standingChange(earlier, volume),
      ...healthChange(before, volume),
      ...refusals(earlier, volume),
    ];
    return [...changes, ...(orphaned ? [orphan(volume)] : [])];
  });
}

function isUnexplained(volume: VolumePlan | undefined): boolean {
  return volume !== undefined && orphanReason(volume) === "UnexplainedRemoval";
}

/** News also when the agent starts: nobody else says it, and the intent that could is gone. */
function orphan(volume: VolumePlan): Transition {
  const paths = volume.actualState.targets.filter((target) => target.truth !== "absent").map((target) => target.path);
  const what = paths.length === 0 ? "what is staged" : listed(paths, 3);
  const message = `the intent ${volume.name} vanished without being deleted: ${what} stays mounted`;
  return { volume, type: "Warning", reason: "UnexplainedRemoval", message };
}

function driftChange(before: VolumePlan | undefined, after: VolumePlan): Transition[] {
  const { drift } = summaryOf(after);
  if (drift === undefined || (before !== undefined && summaryOf(before).drift?.class === drift.class)) return [];
  return [{ volume: after, type: "Warning", reason: "Drifted", message: drift.message }];
}

/** What kubelet has as an Event of the pods. That a volume is well is news only after it was not. */
function healthChange(before: VolumePlan | undefined, after: VolumePlan): Transition[] {
  const [was, is] = [before?.health, after.health];
  if (is === undefined || (was?.abnormal ?? false) === is.abnormal) return [];
  const [type, reason] = is.abnormal
    ? (["Warning", "VolumeConditionAbnormal"] as const)
    : (["Normal", "VolumeConditionNormal"] as const);
  return [{ volume: after, type, reason, message: is.message || reason }];
}

/** What an agent finds on record when it starts was told by the one before. */
function refusals(before: VolumePlan | undefined, after: VolumePlan): Transition[] {
  if (before === undefined) return [];
  return newRefusals(before.actualState, after.actualState).map(({ reason, message }) => {
    return { volume: after, type: "Warning", reason, message };
  });
}

/** What a volume goes through on its way, and what driftChange() tells. */
const quiet: ReadonlySet<string> = new Set([
  "Progressing",
  "NotGranted",
  "WaitingForAttach",
  "WaitingForKubelet",
  "Drifted",
]);

/** A volume that is found as it should be, when the agent starts, is no news. */
function standingChange(before: VolumePlan | undefined, after: VolumePlan): Transition[] {
  const was = before && summaryOf(before);
  const is = summaryOf(after);
  // Of what takes long each count is told, which comes about once a minute (behaviour 76).
  const same = is.reason !== "VolumePermissionChangeInProgress" || was?.message === is.message;
  if (after.desired === undefined || (was?.state === is.state && was.reason === is.reason && same)) return [];
  if (quiet.has(is.reason)) return [];
  // Pods come and go: their own events tell of that.
  if (hasPods(after) && was?.ready === "True" && was.reason === is.reason) return [];
  // All is mounted, and the operation that did it ends in a moment.
  if (is.state === "Updating" && was?.ready !== "True") return [];
  const good = is.ready === "True" || ["Released", "Retained", "Unmounting", "Suspended"].includes(is.reason);
  if (good && before === undefined) return [];
  return [{ volume: after, type: good ? "Normal" : "Warning", reason: is.reason, message: is.message || is.state }];
}
