import { cut, timestamp } from "../../api/conditions.ts";
import { driftTexts } from "../../api/drift-texts.ts";
import { isReason, type Reason } from "../../api/reasons.ts";
import type { DriftClass, IntentState, TargetState } from "../../api/status-values.ts";
import type { AttachStatus, Waiting } from "../../api/types.gen.ts";
import type { WaitingOn } from "../../errors.ts";
import { needsGrantedVolume } from "../../plugins/csi.ts";
import { type ActualTarget, isInSync, isMounted, type Problem } from "../model/actual-volume.ts";
import { isInvalid } from "../model/desired.ts";
import type { Failure } from "../model/failure.ts";
import { attributeDifference, mountAttributes } from "../model/mount-attributes.ts";
import type { VolumePlan } from "../model/volume-plan.ts";
import { type DriftFound, kubeletDrift } from "./kubelet-status.ts";
import type { StatusContext } from "./status-context.ts";

/** Where a volume stands, in one word, and whether that is good. */
export interface VolumeState {
  readonly state: IntentState;
  readonly ready: "True" | "False" | "Unknown";
  readonly reason: Reason;
  readonly message: string;
}

/** Where a volume stands, and how its mounts differ from what was mounted. */
export interface VolumeSummary extends VolumeState {
  /** Absent if nothing differs, or the volume is not wanted. */
  readonly drift?: DriftFound;
}

/** Summaries by plan: a plan is never changed, and each of its listeners asks. */
const summaries = new WeakMap<VolumePlan, VolumeSummary>();

/**
 * PURE. State, readiness, reason, message and drift of a volume, from its plan alone: status, explain, metrics and
 * Events agree as all of them use it. It is computed once a plan.
 */
export function summaryOf(volume: VolumePlan): VolumeSummary {
  const known = summaries.get(volume);
  if (known !== undefined) return known;
  const drift = driftOf(volume);
  const summary = { ...deriveVolumeState(volume), ...(drift && { drift }) };
  summaries.set(volume, summary);
  return summary;
}

function deriveVolumeState(volume: VolumePlan): VolumeState {
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
  const [first] = problems.targets.values();
  const problem = problems.volume ?? first ?? stuckOperation ?? unresponsive;
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
    return { state: "Observed", ready: "True", reason: "Observing", message: "the mount table matches the spec" };
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

/** What is different from what was mounted, if anything; the worst first. Only of a volume that is wanted. */
function driftOf({ actualState, phase, unresponsive }: VolumePlan): DriftFound | undefined {
  if (actualState.kubelet !== undefined) return kubeletDrift(actualState.kubelet);
  if (phase !== "setUp" && phase !== "unexplained") return undefined;
  const { stage } = actualState;
  const found = actualState.targets.flatMap((target) =>
    target.drift === undefined ? [] : [{ target, class: target.drift }],
  );
  const order: readonly DriftClass[] = ["Missing", "SourceDiffers", "Stacked", "OptionsDiffer", "PropagationDiffers"];
  for (const wanted of order) {
    const first = found.find((drift) => drift.class === wanted);
    if (first !== undefined) return { class: wanted, message: messageFor(first.target, wanted) };
  }
  if (stage.drift === undefined)
    return unresponsive && !isDamage(unresponsive) ? { class: "Stale", message: unresponsive.message } : undefined;
  const { path = "", kind } = stage.record ?? {};
  if (kind === "swap") return { class: stage.drift, message: `somebody has turned off the swap on ${path}` };
  return { class: stage.drift, message: stageMessage(stage.drift, path) };
}

/** It is what was mounted, and it answers. */
function isDamage({ reason }: Problem): boolean {
  return reason === "ReadError" || reason === "FilesystemDamaged";
}

function messageFor(target: ActualTarget, drift: DriftClass): string {
  const { path, ours, record, flagsOnNode } = target;
  switch (drift) {
    case "Missing":
      return target.problem?.reason === "TargetMoved"
        ? target.problem.message
        : `${path} was unmounted by somebody else`;
    case "SourceDiffers":
      if (target.foreign === undefined && (target.published === "gone" || target.published === "differs")) {
        return `the driver's mount for ${path} was unmounted or covered by somebody else`;
      }
      return target.foreign === undefined
        ? `${path} shows ${ours?.root ?? "something else"}, the source was removed or renamed`
        : `${path} has another mount in place of ours`;
    case "Stacked":
      return `${path} is covered, or covers another mount`;
    case "OptionsDiffer": {
      if (record === undefined) return `${path} was remounted by somebody else`;
      const here = ours === undefined ? [] : attributeDifference(mountAttributes(ours), record.attributes);
      const there = flagsOnNode === undefined ? [] : attributeDifference(flagsOnNode, record.attributes);
      if (here.length > 0) return `${path} was remounted by somebody else: ${here.join(", ")}`;
      return `the node's mount at ${path} was remounted by somebody else: ${there.join(", ")}`;
    }
    default:
      return `the node does not have ${path} any more: it was made private there and unmounted`;
  }
}

function stageMessage(drift: DriftClass, path: string): string {
  switch (drift) {
    case "Missing":
      return `the staged file system on ${path} was unmounted by somebody else`;
    case "Stale":
      return `${driftTexts.serverEnded}${path} has ended: who uses it gets "not connected"; it is mounted anew`;
    case "ReadOnlyFlip":
      return `${driftTexts.readOnlyFlip}, after an error: see dmesg, check the device`;
    default:
      return `${path} shows another mount than the staged one`;
  }
}

/** The one thing that a volume waits for, since when, and when it is tried again. */
export function waitingOf(
  volume: VolumePlan,
  previous: Waiting | undefined,
  context: StatusContext,
): Waiting | undefined {
  const what = obstacleOf(volume);
  if (what === undefined) return undefined;
  const { reason, on, failure } = what;
  return {
    reason,
    message: cut(what.message, 1024),
    ...(on && { on: whom(on) }),
    since: previous?.reason === reason ? previous.since : timestamp(context.now),
    ...(failure && { attempts: failure.attempts, nextRetryTime: timestamp(failure.nextTime) }),
  };
}

function whom({ kind, namespace, name, node }: WaitingOn): NonNullable<Waiting["on"]> {
  return { kind, ...(namespace && { namespace }), name: cut(name, 512), ...(node && { node }) };
}

/**
 * PURE. Where a volume stands that waits to be granted, in the controller's own words: for people, who read one reason.
 * Nothing is decided by it.
 */
export function withAttach(volumeState: VolumeState, attach: AttachStatus | undefined): VolumeState {
  const { reason, message = "" } = attach ?? {};
  if (!waits(volumeState) || reason === undefined || !isReason(reason)) return volumeState;
  return { ...volumeState, reason, message };
}

/** What the agent does not know the controller may: it sees claims, attachments and other nodes. */
function waits({ state, reason }: VolumeState): boolean {
  return (
    state === "WaitingForAttach" ||
    state === "WaitingForGrant" ||
    reason === "WaitingForKubelet" ||
    reason === "DiskNotCompared"
  );
}

/** PURE. The same of what it waits for. */
export function attachWait(waiting: Waiting, { reason, message }: VolumeState, attach: AttachStatus): Waiting {
  if (attach.reason !== reason || waiting.reason === reason) return waiting;
  const { on, since = waiting.since } = attach;
  return { ...waiting, reason, message: cut(message, 1024), since, ...(on && { on }) };
}

/** PURE. A target in one word. @param hindered whether something stands in its way */
export function stateOfTarget(target: ActualTarget, hindered: boolean): TargetState {
  if (isMounted(target)) return "Mounted";
  if (hindered) return target.foreign === undefined ? "Blocked" : "Foreign";
  return target.truth === "uncertain" ? "Uncertain" : "Absent";
}
