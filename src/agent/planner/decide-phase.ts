import { noProblems, type Problem } from "../model/actual-volume.ts";
import { type Desired, isInvalid } from "../model/desired.ts";
import type { MountPath } from "../model/identities.ts";
import type { Phase } from "../model/volume-plan.ts";
import type { VolumeRecord } from "../model/volume-record.ts";
import { lostSteps } from "./lost-record-steps.ts";
import { observeSteps } from "./observe-steps.ts";
import { isUnpublishRequested, unpublishRequests } from "./pod-steps.ts";
import type { StepContext, Steps } from "./step-context.ts";
import { podUnpublishSteps, setUpSteps, tearDownSteps } from "./volume-steps.ts";

/** PURE. The phase of a volume and its steps. Targets of kubelet's NodeUnpublishVolume come first. */
export function decidePhase(desired: Desired | undefined, context: StepContext): { phase: Phase; steps: Steps } {
  const decided = decideByIntent(desired, context);
  const { input, record } = context;
  if (record === undefined || unpublishRequests(record, input) === undefined) return decided;
  const problems = { ...decided.steps.problems, targets: new Map(decided.steps.problems.targets) };
  const { name, uid } = record;
  const given = podUnpublishSteps(context, { name, uid, unmountPolicy: desired?.unmountPolicy ?? gentle }, problems);
  const others = decided.steps.actions.filter((action) => !("path" in action && isGiven(action.path, context)));
  return { ...decided, steps: { ...decided.steps, actions: [...given, ...others], problems } };
}

function isGiven(path: MountPath, { record, input }: StepContext): boolean {
  return record?.targets.some((target) => target.path === path && isUnpublishRequested(target, input)) === true;
}

function decideByIntent(desired: Desired | undefined, context: StepContext): { phase: Phase; steps: Steps } {
  const { record } = context;
  if (desired === undefined) return decideWithoutIntent(context);
  if (isStale(desired, record)) return { phase: "setUp", steps: problem({ reason: "StaleRead", message: staleRead }) };
  if (desired.deleting) return decideRevoked(desired, context);
  if (isInvalid(desired)) {
    const { reason = "Invalid", problem: message } = desired;
    return { phase: "invalid", steps: problem({ reason, message }) };
  }
  if (desired.mode === "Observe") return { phase: "observe", steps: observeSteps(desired, context) };
  if (!desired.granted) return { phase: "ungranted", steps: nothing };
  return { phase: "setUp", steps: setUpSteps(desired, context) };
}

/** The intent is gone. If its deletion was observed, the release continues; otherwise the mounts stay (law L8). */
function decideWithoutIntent(context: StepContext): { phase: Phase; steps: Steps } {
  const { record } = context;
  if (record?.revoked === true && record.retained !== true) {
    const { name, uid } = record;
    const steps = tearDownSteps(context, { name, uid, unmountPolicy: gentle });
    const { volume, targets } = steps.problems;
    const blocked = [...targets.values()].some(({ reason }) => reason !== "UnexplainedRemoval");
    if (steps.actions.length > 0 || volume || blocked) return { phase: "tearDown", steps };
  }
  return { phase: "unexplained", steps: forgetSteps(context) };
}

/**
 * The intent was revoked. Teardown uses the record alone, so that a volume whose spec is not understood is released as
 * well.
 */
function decideRevoked(desired: Desired, context: StepContext): { phase: Phase; steps: Steps } {
  const { record, actualState } = context;
  if (record?.retained === true) return { phase: "retained", steps: nothing };
  const empty = record === undefined || (record.stage === undefined && record.targets.length === 0);
  // A volume that is being set up has no record before its first write. It counts as in use all the same (safety rule
  // 8).
  const running = context.input.pendingOperations.get(desired.name);
  if (empty && running !== undefined && running !== "observe") return { phase: "tearDown", steps: nothing };
  const nothingLeft = empty && actualState.stage.truth === "absent" && record?.child === undefined;
  // This holds even if there is a record: other records may be lost.
  const unread = actualState.unread?.problem !== undefined;
  const lost = nothingLeft || unread ? lostSteps(desired, context) : undefined;
  if (nothingLeft && lost === undefined) return { phase: "released", steps: nothing };
  // Mounts that an earlier intent left are not torn down, nor reported as released, for this one (safety rule 27, law
  // L10).
  if (!isInvalid(desired) && desired.mode === "Observe")
    return { phase: "observe", steps: observeSteps(desired, context) };
  if (desired.deletionPolicy === "Retain") {
    if (record === undefined && context.input.table !== undefined) return { phase: "retained", steps: nothing };
    return { phase: "tearDown", steps: { ...nothing, actions: [{ kind: "retain" }] } };
  }
  if (lost !== undefined) return { phase: "tearDown", steps: lost };
  return { phase: "tearDown", steps: tearDownSteps(context, desired) };
}

/** A record without an intent is dropped only when nothing is left of what it speaks of. */
function forgetSteps({ actualState, record }: StepContext): Steps {
  const undone = record?.child === undefined && record?.stage?.undo === undefined;
  const left = actualState.targets.some((target) => target.truth !== "absent") || !undone;
  const kind = actualState.stage.record?.kind;
  const staged = actualState.stage.truth !== "absent" && kind !== "path" && kind !== "device";
  return left || staged ? nothing : { ...nothing, actions: [{ kind: "forget" }] };
}

/** Safety rule 4: a generation that the journal has passed is an old read. */
function isStale(desired: Desired, record: VolumeRecord | undefined): boolean {
  return record !== undefined && record.uid === desired.uid && desired.generation < record.generation;
}

function problem(of: Problem): Steps {
  return { actions: [], problems: { ...noProblems, volume: of } };
}

/** The unmount policy of a volume without a spec. */
const gentle = { max: "Normal", timeoutSeconds: 90 } as const;
const nothing: Steps = { actions: [], problems: noProblems };
const staleRead = "the API server showed an older generation than was acted for already";
