import type { Reason } from "../api/reasons.ts";
import type { NodeVolumeIntentStatus } from "../api/types.gen.ts";
import { isInvalid } from "./desired-volume.ts";
import type { VolumePlan } from "./plan.ts";
import { isAsWanted } from "./view.ts";

/** Where a volume stands, in one word, and whether that is good. */
export interface Standing {
  readonly state: NonNullable<NodeVolumeIntentStatus["state"]>;
  readonly ready: "True" | "False" | "Unknown";
  readonly reason: Reason;
  readonly message: string;
}

export function standingOf(volume: VolumePlan): Standing {
  const obstacle = obstacleOf(volume);
  switch (volume.phase) {
    case "invalid":
      return { state: "Invalid", ready: "False", ...(obstacle ?? { reason: "Invalid", message: "" }) };
    case "ungranted":
      return {
        state: "WaitingForGrant",
        ready: "False",
        reason: "NotGranted",
        message: "the controller has not granted the volume yet",
      };
    case "observe":
      return observing(volume);
    case "released":
      return {
        state: "Released",
        ready: "False",
        reason: "Released",
        message: "nothing of the volume is left on this node",
      };
    case "retained":
      return {
        state: "Retained",
        ready: "False",
        reason: "Retained",
        message: "the mounts are left as they are, with nobody in charge",
      };
    case "tearDown":
      return {
        state: "Unmounting",
        ready: "False",
        ...(obstacle ?? { reason: "Unmounting", message: "the volume is being released" }),
      };
    case "unexplained":
      return { state: "Unknown", ready: "Unknown", reason: "UnexplainedRemoval", message: "" };
    case "setUp":
      return settingUp(volume, obstacle);
  }
}

/** What stands in the way: something of the table or the spec before a failure that is tried again. */
export function obstacleOf({ problems, failure }: VolumePlan): { reason: Reason; message: string } | undefined {
  const [problem] = problems.has("") ? [problems.get("")] : problems.values();
  const found = problem ?? failure;
  return found && { reason: found.reason, message: found.message };
}

function settingUp(volume: VolumePlan, obstacle: ReturnType<typeof obstacleOf>): Standing {
  const { view, pending, desired } = volume;
  const wanted = view.targets.filter((target) => target.desired !== undefined);
  const good = wanted.filter(isAsWanted);
  const flipped = view.stage.drift === "ReadOnlyFlip";
  if (view.targets.length === 0 && view.stage.truth === "absent" && obstacle === undefined) {
    return { state: "Waiting", ready: "True", reason: "NoConsumers", message: "no mount is asked for" };
  }
  if (good.length === wanted.length && !flipped && view.stage.truth === "mounted") {
    const state = pending.length === 0 ? "Mounted" : "Updating";
    return { state, ready: "True", reason: "Mounted", message: obstacle?.message ?? "" };
  }
  const suspended = desired !== undefined && !isInvalid(desired) && desired.suspend;
  const why = flipped
    ? {
        reason: "FilesystemReadOnly" as const,
        message: "the kernel made the file system read-only after an error: see dmesg",
      }
    : (obstacle ?? (suspended ? suspendedWhy : progress(volume)));
  const some = wanted.some((target) => target.truth === "mounted");
  const working = volume.view.stage.truth === "mounted" ? "Mounting" : "Staging";
  const state = some ? "Degraded" : obstacle !== undefined || suspended ? "Waiting" : working;
  return { state, ready: "False", ...why };
}

function observing(volume: VolumePlan): Standing {
  const obstacle = obstacleOf(volume);
  if (obstacle !== undefined) return { state: "Observed", ready: "False", ...obstacle };
  const same = volume.view.targets.every((target) => target.truth === "mounted");
  if (same)
    return {
      state: "Observed",
      ready: "True",
      reason: "Observing",
      message: "the mount table shows what the spec says",
    };
  if (volume.pending.length === 0) {
    return { state: "Observed", ready: "Unknown", reason: "Progressing", message: "the source is looked at" };
  }
  const message = `mode Manage would: ${volume.pending.join("; ")}`;
  return { state: "Observed", ready: "False", reason: "WouldChange", message };
}

function progress({ running, pending }: VolumePlan): { reason: Reason; message: string } {
  return { reason: "Progressing", message: running ?? pending[0] ?? "" };
}

const suspendedWhy = {
  reason: "Suspended",
  message: "set-up and repair are suspended on the set or the Node",
} as const;
