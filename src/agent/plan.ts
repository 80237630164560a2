import type { MountEntry } from "../host/mountinfo.ts";
import { type Desired, type DesiredVolume, isInvalid } from "./desired-volume.ts";
import { type Failure, slotOf } from "./failures.ts";
import { type Likeness, likenessOf } from "./likeness.ts";
import { isOurs, look } from "./look.ts";
import { lostSteps, tableUnreadable } from "./lost-record.ts";
import { observeSteps } from "./observe-steps.ts";
import { describe, isRemoval, type Operation, type OperationKind } from "./operations.ts";
import { PathOwners } from "./path-owners.ts";
import { lookFor, type PlanInput, stagingPath } from "./plan-input.ts";
import type { VolumeRecord } from "./record.ts";
import type { StepContext, Steps } from "./step-context.ts";
import { setUpSteps, tearDownSteps } from "./steps.ts";
import type { Problem, VolumeView } from "./view.ts";

/**
 * What is to become of one volume, and where it stands.
 *
 *                 ┌─ invalid        not understood: nothing is done
 *   intent ───────┼─ observe        compared only
 *                 ├─ ungranted      nothing is touched
 *                 ├─ setUp          towards the spec
 *                 └─ tearDown ──────► released │ retained
 *   no intent ────┬─ tearDown       if it was seen to be deleted
 *                 └─ unexplained    kept as it is (law L8)
 */
export type Phase =
  | "invalid"
  | "observe"
  | "ungranted"
  | "setUp"
  | "tearDown"
  | "released"
  | "retained"
  | "unexplained";

export interface VolumePlan {
  readonly name: string;
  readonly phase: Phase;
  readonly desired?: Desired;
  readonly record?: VolumeRecord;
  readonly view: VolumeView;
  /** To be started now. */
  readonly operation?: Operation;
  /** Runs already: the volume gets no second one (law L4). */
  readonly running?: OperationKind;
  /** What stands in the way, of the volume as a whole ("") or of a target, by path. */
  readonly problems: ReadonlyMap<string, Problem>;
  /** The last failure of a step that is still to be done. */
  readonly failure?: Failure;
  /** Milliseconds of the monotonic clock at which a step that failed may be tried again. */
  readonly retryAt?: number;
  /** Steps that are left, as text. */
  readonly pending: readonly string[];
}

export interface Plan {
  /** Whether the intents were read completely: before that a volume without one says nothing. */
  readonly synced: boolean;
  readonly volumes: ReadonlyMap<string, VolumePlan>;
  readonly operations: readonly Operation[];
  /** Milliseconds of the monotonic clock at which a failed operation may be tried again. */
  readonly wakeAt?: number;
}

/**
 * PURE: desired and actual world → what to start now. Says the same for the same input, starts at most one operation a
 * volume, and an input that needs nothing gets nothing (law L5).
 */
export function plan(input: PlanInput): Plan {
  const owners = new PathOwners(input.desired.values(), input.records.values());
  const volumes = new Map<string, VolumePlan>();
  for (const name of new Set([...input.desired.keys(), ...input.records.keys()])) {
    volumes.set(name, planVolume(name, input, owners));
  }
  const operations = [...volumes.values()].flatMap((volume) => volume.operation ?? []);
  const waits = [...volumes.values()].flatMap((volume) => volume.retryAt ?? []);
  const { synced } = input;
  return { synced, volumes, operations, ...(waits.length === 0 ? {} : { wakeAt: Math.min(...waits) }) };
}

function planVolume(name: string, input: PlanInput, owners: PathOwners): VolumePlan {
  const desired = input.desired.get(name);
  const record = input.records.get(name);
  const key = desired !== undefined && !isInvalid(desired) ? desired.spec.key : (record?.key ?? "");
  const view = look({
    desired: desired === undefined || isInvalid(desired) ? undefined : desired,
    record,
    mayHaveLost: input.mayHaveLost,
    table: input.table,
    nodeTable: input.nodeTable,
    stagingPath: stagingPath(input.settings, key),
    likeness: likenessIn(input, desired),
  });
  const context: StepContext = { input, owners, view, record };
  const { phase, steps } = decide(desired, context);
  const problems = withTable(steps.problems, phase, input);
  const base = { name, phase, view, problems, ...(desired && { desired }), ...(record && { record }) };
  const pending = steps.actions.filter(({ kind }) => kind !== "observe").map(describe);
  const chosen = choose(name, steps, phase, input, desired?.generation ?? record?.generation ?? 0);
  const running = input.inFlight.get(name);
  if (running === undefined) return { ...base, pending, ...chosen };
  return { ...base, pending, running, ...(chosen.failure && { failure: chosen.failure }) };
}

/** Which way the volume goes, and the steps of that way. */
function decide(desired: Desired | undefined, context: StepContext): { phase: Phase; steps: Steps } {
  const { record } = context;
  if (desired === undefined) return decideWithoutIntent(context);
  if (isStale(desired, record)) return { phase: "setUp", steps: problem({ reason: "StaleRead", message: staleRead }) };
  if (desired.deleting) return decideRelease(desired, context);
  if (isInvalid(desired)) return { phase: "invalid", steps: problem({ reason: "Invalid", message: desired.problem }) };
  if (desired.mode === "Observe") return { phase: "observe", steps: observeSteps(desired, context) };
  if (!desired.granted) return { phase: "ungranted", steps: nothing };
  return { phase: "setUp", steps: setUpSteps(desired, context) };
}

/** An intent that is gone. If it was seen to be deleted, its release goes on; else what is mounted stays (law L8). */
function decideWithoutIntent(context: StepContext): { phase: Phase; steps: Steps } {
  const { record } = context;
  if (record?.revoked === true && record.retained !== true) {
    const { name, uid } = record;
    const steps = tearDownSteps(context, { name, uid, unmountPolicy: gentle });
    const blocked = [...steps.problems.values()].some(({ reason }) => reason !== "UnexplainedRemoval");
    if (steps.actions.length > 0 || blocked) return { phase: "tearDown", steps };
  }
  return { phase: "unexplained", steps: forgetSteps(context) };
}

/** An intent that was revoked. What takes it down is the record alone, so that even a spec not understood is released. */
function decideRelease(desired: Desired, context: StepContext): { phase: Phase; steps: Steps } {
  const { record, view } = context;
  if (record?.retained === true) return { phase: "retained", steps: nothing };
  const empty = record === undefined || (record.stage === undefined && record.targets.length === 0);
  // What is being set up has no record before its first write: it is in use all the same (safety rule 8).
  const running = context.input.inFlight.get(desired.name);
  if (empty && running !== undefined && running !== "observe") return { phase: "tearDown", steps: nothing };
  const nothingLeft = empty && view.stage.mount === undefined && record?.child === undefined;
  const lost = nothingLeft ? lostSteps(desired, context) : undefined;
  if (nothingLeft && lost === undefined) return { phase: "released", steps: nothing };
  // What an intent before it has left is not its to take down, nor to call released (safety rule 27, law L10).
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
function forgetSteps({ view, record }: StepContext): Steps {
  const left = view.targets.some((target) => target.truth !== "absent") || record?.child !== undefined;
  const kind = view.stage.record?.kind;
  const staged = view.stage.truth !== "absent" && kind !== "path" && kind !== "device";
  return left || staged ? nothing : { ...nothing, actions: [{ kind: "forget" }] };
}

/**
 * The first step that may run now, the failure that stands in the way of an earlier one or of this one, and when that
 * may be tried again. An observed volume runs no step that changes anything, a suspended one lets consumers go.
 */
function choose(
  volume: string,
  steps: Steps,
  phase: Phase,
  input: PlanInput,
  generation: number,
): Pick<VolumePlan, "operation" | "failure" | "retryAt"> {
  let failure: Failure | undefined;
  let retryAt: number | undefined;
  for (const action of steps.actions) {
    const operation: Operation = { volume, ...action };
    if (!mayRun(operation, phase, input)) continue;
    const failed = input.failures.get(slotOf(operation));
    const again = failed?.kind === action.kind && failed.generation === generation ? failed : undefined;
    failure ??= again;
    if (again === undefined || input.now >= again.nextAt) {
      return { operation, ...(failure && { failure }), ...(retryAt !== undefined && { retryAt }) };
    }
    retryAt = Math.min(retryAt ?? again.nextAt, again.nextAt);
  }
  return { ...(failure && { failure }), ...(retryAt !== undefined && { retryAt }) };
}

function mayRun(operation: Operation, phase: Phase, input: PlanInput): boolean {
  const { volume, kind } = operation;
  if (input.table === undefined) return false; // what is not known is neither set up nor taken down
  if (isRemoval(operation) && !input.synced) return false; // law L1
  if (phase === "observe") return kind === "observe";
  const desired = input.desired.get(volume);
  if (phase !== "setUp" || desired === undefined || isInvalid(desired) || !desired.suspend) return true;
  return kind === "unpublish" && hasLeft(operation.path, desired, input.records.get(volume));
}

/** Whether the consumer of a mount is gone: what is taken down of another would not come back while suspended. */
function hasLeft(path: string, { mounts }: DesiredVolume, record: VolumeRecord | undefined): boolean {
  const name = record?.targets.find((target) => target.path === path)?.name;
  return !mounts.some((mount) => mount.path === path || mount.name === name);
}

/** Safety rule 4: a generation that the journal has passed is an old read. */
function isStale(desired: Desired, record: VolumeRecord | undefined): boolean {
  return record !== undefined && record.uid === desired.uid && desired.generation < record.generation;
}

/** Without the mount table nothing of a volume that is managed can go on. */
function withTable(problems: Steps["problems"], phase: Phase, { table }: PlanInput): Steps["problems"] {
  if (table !== undefined || (phase !== "setUp" && phase !== "tearDown") || problems.has("")) return problems;
  return new Map([["", tableUnreadable], ...problems]);
}

/** What a mount without a record is to a volume whose spec is understood. */
function likenessIn(input: PlanInput, desired: Desired | undefined): (mount: MountEntry) => Likeness | undefined {
  const { table, settings } = input;
  if (table === undefined || desired === undefined || isInvalid(desired)) return () => undefined;
  const observed = lookFor(desired, input.observed);
  if (desired.mode === "Observe" && desired.layout.hostPath !== undefined && observed?.source === undefined) {
    return () => undefined;
  }
  const others =
    desired.mode === "Observe" ? [] : [...input.records.values()].filter(({ name }) => name !== desired.name);
  return (mount) =>
    table.layers(mount.point).length === 1 && others.some((record) => isRecorded(mount, record))
      ? "other"
      : likenessOf(mount, desired, { table, settings, observed });
}

/** Whether a mount is a target of this record: then no other volume has lost the record of it. */
function isRecorded(mount: MountEntry, { targets }: VolumeRecord): boolean {
  return targets.some((target) => target.path === mount.point && isOurs(mount, target));
}

function problem(of: Problem): Steps {
  return { actions: [], problems: new Map([["", of]]) };
}

/** How far an unmount may go for which no spec can be asked any more. */
const gentle = { max: "Normal", timeoutSeconds: 90 } as const;
const nothing: Steps = { actions: [], problems: new Map() };
const staleRead = "the API server showed an older generation than was acted for already";
