import type { Reason } from "../../api/reasons.ts";
import type { IntentState } from "../../api/status-values.ts";
import type { WaitingOn } from "../../errors.ts";
import { needsGrantedVolume } from "../../plugins/csi.ts";
import type { Failure } from "../backoff/backoff.ts";
import { isInSync, isMounted } from "../model/actual-volume.ts";
import { isInvalid } from "../model/desired.ts";
import type { VolumePlan } from "../model/volume-plan.ts";

/** Where a volume stands, in one word, and whether that is good. */
export interface VolumeState {
  readonly state: IntentState;
  readonly ready: "True" | "False" | "Unknown";
  readonly reason: Reason;
  readonly message: string;
}

/**
 * PURE. State, readiness, reason and message of a volume, from its plan alone: status, explain and Events agree as all
 * of them use it.
 */
export function deriveVolumeState(volume: VolumePlan): VolumeState {
  const why = whyOf(volume);
  switch (volume.phase) {
    case "invalid":
      return { state: "Invalid", ready: "False", ...(why ?? { reason: "Invalid", message: "" }) };
    case "ungranted":
      return {
        state: waitsForAttach(volume) ? "WaitingForAttach" : "WaitingForGrant",
        ready: "False",
        ...notGrantedTo(volume),
      };
    case "observe":
      return observing(volume);
    case "released":
      return {
        state: "Released",
        ready: "False",
        reason: "Released",
        message: "the volume has been fully unmounted and cleaned up on this node",
      };
    case "retained":
      return {
        state: "Retained",
        ready: "False",
        reason: "Retained",
        message: "the mounts stay as they are, unmanaged",
      };
    case "tearDown":
      return {
        state: "Unmounting",
        ready: "False",
        ...(why ?? { reason: "Unmounting", message: "the volume is being released" }),
      };
    case "unexplained":
      return { state: "Unknown", ready: "Unknown", reason: "UnexplainedRemoval", message: "existing mounts stay" };
    case "setUp":
      return settingUp(volume, why);
  }
}

/** The wait reason of a volume, or its problem. */
export interface Obstacle {
  readonly reason: Reason;
  readonly message: string;
  readonly on?: WaitingOn;
  /** Present for a failure that is retried. */
  readonly failure?: Failure;
}

/**
 * The most important problem: first one of the mount table or the spec, then a blocked operation, then an unresponsive
 * server, then a failure that is retried.
 */
export function obstacleOf(volume: VolumePlan): Obstacle | undefined {
  const { problems, stuckOperation, unresponsive, failure, phase } = volume;
  const [first] = problems.has("") ? [problems.get("")] : problems.values();
  const problem = first ?? stuckOperation ?? unresponsive;
  const { reason, message, on } = problem ?? failure ?? (phase === "ungranted" ? notGrantedTo(volume) : nothing);
  if (reason === undefined) return undefined;
  return { reason, message, ...(on && { on }), ...(problem === undefined && failure && { failure }) };
}

function whyOf(volume: VolumePlan): Pick<Obstacle, "reason" | "message"> | undefined {
  const obstacle = obstacleOf(volume);
  return obstacle && { reason: obstacle.reason, message: obstacle.message };
}

function settingUp(volume: VolumePlan, obstacle: ReturnType<typeof whyOf>): VolumeState {
  const { actualState, pending, desired, behind } = volume;
  const wanted = actualState.targets.filter((target) => target.desired !== undefined);
  // A failing pod mount is no problem of the other pods and the host: otherwise a tenant could mark nodes not ready. It
  // is reported in status.pods.
  const late = wanted.filter((target) => target.desired?.pod === undefined && !isInSync(target));
  const flipped = actualState.stage.drift === "ReadOnlyFlip";
  const swap = desired !== undefined && !isInvalid(desired) && desired.layout.swap === true;
  const asked = actualState.targets.length > 0 || hasPods(volume) || swap;
  if (!asked && actualState.stage.truth === "absent" && obstacle === undefined) {
    return { state: "Waiting", ready: "True", reason: "NoConsumers", message: "the spec has no mounts" };
  }
  const shown =
    late.length === 0 && !flipped && volume.unresponsive === undefined && actualState.stage.truth === "mounted";
  if (shown && volume.superseded === undefined) {
    // A failing pod mount must not mark the whole volume not ready for healthy pods.
    if (behind !== undefined) {
      const { reason, message } = behind;
      return { state: "Updating", ready: "True", reason, message };
    }
    const state = pending.length === 0 ? "Mounted" : "Updating";
    if (swap) return { state, ready: "True", reason: "InUseAsSwap", message: obstacle?.message ?? swapsTo(volume) };
    return { state, ready: "True", reason: "Mounted", message: obstacle?.message ?? "" };
  }
  const suspended = desired !== undefined && !isInvalid(desired) && desired.suspend;
  const why = flipped
    ? {
        reason: "FilesystemReadOnly" as const,
        message: "the kernel made the file system read-only after an error: see dmesg",
      }
    : (obstacle ?? (suspended ? suspendedWhy : progress(volume)));
  const some = wanted.some(isMounted);
  const working = volume.actualState.stage.truth === "mounted" ? "Mounting" : "Staging";
  const state = some ? "Degraded" : obstacle !== undefined || suspended ? "Waiting" : working;
  return { state, ready: "False", ...why };
}

function swapsTo({ actualState }: VolumePlan): string {
  return `the node swaps to ${actualState.stage.record?.path}`;
}

/** Whether the intent lists pods: the volume is then staged before the first NodePublishVolume. */
export function hasPods({ desired }: VolumePlan): boolean {
  return desired !== undefined && !isInvalid(desired) && desired.pods !== undefined;
}

function observing(volume: VolumePlan): VolumeState {
  const obstacle = whyOf(volume);
  if (obstacle !== undefined) return { state: "Observed", ready: "False", ...obstacle };
  const { kubelet } = volume.actualState;
  if (kubelet !== undefined) {
    const message = `kubelet has the volume mounted for each pod of the list: ${kubelet.pods.length}`;
    return { state: "Observed", ready: "True", reason: "Observing", message };
  }
  const same = volume.actualState.targets.every(
    ({ truth, attributesDiffer }) => truth === "mounted" && !attributesDiffer,
  );
  if (same)
    return {
      state: "Observed",
      ready: "True",
      reason: "Observing",
      message: "the mount table matches the spec",
    };
  if (volume.pending.length === 0) {
    return { state: "Observed", ready: "Unknown", reason: "Progressing", message: "checking the source" };
  }
  const message = `mode Manage would: ${volume.pending.join("; ")}`;
  return { state: "Observed", ready: "False", reason: "WouldChange", message };
}

function progress({ running, pending }: VolumePlan): { reason: Reason; message: string } {
  return { reason: "Progressing", message: running ?? pending[0] ?? "" };
}

function notGrantedTo(volume: VolumePlan) {
  return waitsForAttach(volume) ? notAttached : notGranted;
}

/**
 * Whether the source names the volume only indirectly (a PVC): the controller attaches it first, and reports progress
 * in status.attach.
 */
function waitsForAttach({ desired }: VolumePlan): boolean {
  return desired !== undefined && !isInvalid(desired) && needsGrantedVolume(desired.spec);
}

const notAttached = {
  reason: "WaitingForAttach",
  message: "the controller has not granted the volume yet: status.attach has the reason",
  on: undefined,
} as const;
const notGranted = {
  reason: "NotGranted",
  message: "the controller has not granted the volume yet",
  on: undefined,
} as const;
const nothing = { reason: undefined, message: "", on: undefined } as const;

const suspendedWhy = {
  reason: "Suspended",
  message: "set-up and repair are suspended on the set or the Node",
} as const;
