import { isBeneath } from "../../host/mount-table/mount-table.ts";
import type { UnmountMode } from "../../host/ports/host-ports.ts";
import { isStatePath } from "../actual/state-path.ts";
import { contentStateOf } from "../content/content-of.ts";
import { type ActualTarget, type ActualVolume, noProblems, type Problem } from "../model/actual-volume.ts";
import type { DesiredVolume } from "../model/desired.ts";
import { failureOf } from "../model/failure.ts";
import type { IntentUID, MountPath, VolumeName } from "../model/identities.ts";
import type { Action } from "../model/operation.ts";
import type { ContentState, PlanSettings } from "../model/plan-input.ts";
import type { StageRecord, VolumeRecord } from "../model/volume-record.ts";
import { fsGroupToWrite } from "../ownership/fsgroup-policy.ts";
import { mustReplaceForCredentials, refusedAndHeld } from "./credential-steps.ts";
import { expandActions, mustRecover } from "./csi-steps.ts";
import { republishSteps } from "./driver-republish-steps.ts";
import { isSameForDriver, mustReplaceForOptions, optionsDiffer } from "./option-steps.ts";
import { consumerStillRunning, credentialsWait, isHeldByPod, isUnpublishRequested, optionsWait } from "./pod-steps.ts";
import type { FoundProblems, StepContext, Steps } from "./step-context.ts";
import { adoptOwn, targetActions } from "./target-steps.ts";

/**
 * PURE. Steps that bring a desired volume in line with its spec:
 * 1. unmount targets of consumers that left; if the path of a mount has changed, the old one once the new one is
 *    mounted
 * 2. stage; update content and options
 * 3. mount each target, or repair its mount
 *
 * A change of options or of a Secret that the kernel refuses in place takes the volume down and sets it up again. While
 * pods use it, all consumers, new pods and the host included, keep the present mount.
 */
export function setUpSteps(desired: DesiredVolume, context: StepContext): Steps {
  const { actualState, record } = context;
  if (mustRecover(desired, context)) return { actions: [{ kind: "recover" }], problems: noProblems };
  const problems: FoundProblems = { targets: new Map() };
  const staged = actualState.stage.truth === "mounted";

  const left = actualState.targets.filter((target) => target.record !== undefined && target.desired === undefined);
  const going = left.filter((target) => !isKept(target, desired.uid, context, problems));
  const gone = going.filter((target) => !awaitsSuccessor(target, desired, actualState));

  // Pods are to find it ready: kubelet waits for each of them.
  const unused = desired.mounts.length === 0 && desired.pods === undefined && desired.layout.swap !== true;
  if (unused && left.length === 0) return unstageSteps(context, desired, problems);
  const otherSecret = mustReplaceForCredentials(desired, context);
  const mustReplace = otherSecret || mustReplaceForOptions(desired, context);
  const held = actualState.targets.flatMap(({ record: target }) =>
    isHeldByPod(target, context.input) ? [target] : [],
  );
  if (mustReplace && (held.length === 0 || !isSameForDriver(desired, record?.stage)))
    return tearDownSteps(context, desired);
  if (mustReplace) for (const target of held) problems.targets.set(target.path, consumerStillRunning(target));
  const [holder] = mustReplace ? held : [];

  const actions: Action[] = unpublishAll(gone, context, desired, problems);
  if (record !== undefined && mustClaim(record, desired)) actions.push({ kind: "claim" });
  const stage = stageActions(desired, context, problems);
  actions.push(...stage.filter(({ kind }) => !mustReplace || kind !== "reconfigure"));
  const refused = otherSecret && holder && refusedAndHeld(desired, holder, context);
  if (refused) problems.volume ??= refused;
  if (staged) {
    for (const mount of desired.mounts) actions.push(...targetActions(mount, desired, context, problems));
    actions.push(...expandActions(desired, context));
  }
  const { actions: again, ...due } = republishSteps(desired, context);
  const behind = holder && (otherSecret ? credentialsWait(holder) : optionsWait(holder));
  return { actions: [...actions, ...again], problems, ...due, ...(behind && { behind }) };
}

/** PURE. Steps that take everything of a volume down that the record covers: targets first, then the stage (law L3). */
export function tearDownSteps(context: StepContext, policy: TearDownPolicy): Steps {
  const problems: FoundProblems = { targets: new Map() };
  const recorded = context.actualState.targets.filter((target) => target.record !== undefined);
  const ours = recorded.filter((target) => !isKept(target, policy.uid, context, problems));
  const lost = context.actualState.targets.flatMap((target) => adoptOwn(target, context));
  if (lost.length > 0) return { actions: lost, problems };
  if (recorded.length === 0) return unstageSteps(context, policy, problems);
  return { actions: unpublishAll(ours, context, policy, problems), problems };
}

/**
 * PURE. Steps for targets of kubelet's NodeUnpublishVolume: they are unmounted whatever else is known of the volume
 * (safety rule 19).
 */
export function podUnpublishSteps(context: StepContext, policy: TearDownPolicy, problems: FoundProblems): Action[] {
  const given = context.actualState.targets.filter((target) => isUnpublishRequested(target.record, context.input));
  return unpublishAll(given, context, policy, problems);
}

/** The policy of a teardown. */
export interface TearDownPolicy {
  readonly uid: IntentUID;
  readonly name: VolumeName;
  readonly unmountPolicy: DesiredVolume["unmountPolicy"];
}

function unstageSteps(context: StepContext, policy: TearDownPolicy, problems: FoundProblems): Steps {
  const { stage } = context.actualState;
  if (stage.problem !== undefined) {
    problems.volume = stage.problem;
    return { actions: [], problems };
  }
  if (stage.record === undefined && stage.mount === undefined) return { actions: [], problems };
  const action: Action = { kind: "unstage", unmountMode: "Normal", ...(stage.mount && { mountID: stage.mount.id }) };
  return { actions: [{ ...action, unmountMode: unmountModeFor(action, policy, context) }], problems };
}

function stageActions(
  desired: DesiredVolume,
  { actualState, input, record }: StepContext,
  problems: FoundProblems,
): Action[] {
  const { stage } = actualState;
  const content = contentStateOf(desired.layout.content, input.contents);
  if (content?.problem !== undefined) problems.volume = content.problem;
  if (stage.problem !== undefined) problems.volume = stage.problem;
  const forbidden = sourceProblem(desired, input.settings);
  if (forbidden !== undefined) problems.volume = forbidden;

  if (stage.problem !== undefined || forbidden !== undefined) return [];
  if (stage.truth !== "mounted") return content?.known === false ? [] : [{ kind: "stage" }];
  const actions: Action[] = [];
  const old = isContentOld(record?.stage, content) || isForOtherGroup(desired, record, content);
  if (old && desired.layout.credentials !== true) actions.push({ kind: "refresh" });
  if (stage.mount !== undefined && optionsDiffer(desired, record?.stage)) {
    actions.push({ kind: "reconfigure", mountID: stage.mount.id });
  }
  return actions;
}

function isContentOld(stage: StageRecord | undefined, content: ContentState | undefined): boolean {
  return content?.known === true && stage?.contentVersion !== content.version;
}

function isForOtherGroup(desired: DesiredVolume, record: VolumeRecord | undefined, content: ContentState | undefined) {
  return content?.known === true && fsGroupToWrite(desired, record) !== record?.stage?.fsGroup;
}

function mustClaim(record: VolumeRecord, desired: DesiredVolume): boolean {
  const wanted = new Set(desired.mounts.map((mount) => mount.path));
  const foreign = record.targets.some((target) => target.uid !== desired.uid && wanted.has(target.path));
  return record.uid !== desired.uid || foreign || record.retained === true || record.revoked === true;
}

function unpublishAll(
  targets: readonly ActualTarget[],
  context: StepContext,
  policy: TearDownPolicy,
  problems: FoundProblems,
): Action[] {
  return targets.flatMap((target): Action[] => {
    const hinders = target.ours !== undefined || target.truth === "uncertain";
    const inTheWay = target.problem?.reason !== "NotPropagated" && target.problem?.reason !== "TargetMoved";
    const blocked = hinders && inTheWay ? target.problem : undefined;
    if (blocked !== undefined) {
      problems.targets.set(target.path, blocked);
      return [];
    }
    const action: Action = {
      kind: "unpublish",
      path: target.path,
      unmountMode: "Normal",
      ...(target.ours && { mountID: target.ours.id }),
      ...(target.ours && target.ours.point !== target.path && { at: target.ours.point }),
    };
    return [{ ...action, unmountMode: unmountModeFor(action, policy, context) }];
  });
}

/**
 * Whether the mount on an old path waits for its successor: first the new path is mounted, then the old one unmounted.
 * Not if one path lies beneath the other: the new mount would be inside the old one, or hide it.
 */
function awaitsSuccessor(
  { path, record }: ActualTarget,
  { mounts }: DesiredVolume,
  actualState: ActualVolume,
): boolean {
  const successor = mounts.find((mount) => mount.name === record?.name);
  if (successor === undefined || mounts.some((mount) => overlap(mount.path, path))) return false;
  return actualState.targets.find((target) => target.path === successor.path)?.truth !== "mounted";
}

function overlap(a: string, b: string): boolean {
  return isBeneath(a, b) || isBeneath(b, a);
}

/**
 * The unmount mode by how long gentler ones have failed: normal, then MNT_FORCE, then MNT_DETACH. MNT_FORCE aborts the
 * requests of all users of the file system, through whichever mount: only a file system that the agent mounted itself
 * is forced (decision 0020).
 */
function unmountModeFor(action: Action, policy: TearDownPolicy, { input, record }: StepContext): UnmountMode {
  const failure = failureOf(input.failures, { volume: policy.name, ...action });
  if (failure?.kind !== action.kind) return "Normal";
  const { max, timeoutSeconds } = policy.unmountPolicy;
  const rungs = Math.floor((input.now - failure.firstAt) / (timeoutSeconds * 1000));
  if (rungs >= 2 && max === "Lazy") return "Lazy";
  const own = record?.stage?.kind === "filesystem";
  return rungs >= 1 && max !== "Normal" && own ? "Force" : "Normal";
}

function sourceProblem(desired: DesiredVolume, settings: PlanSettings): Problem | undefined {
  const path = desired.layout.hostPath;
  if (path === undefined || !isStatePath(path, settings)) return undefined;
  return { reason: "SourceNotAllowed", message: `${path} holds the agent's own state: name another source` };
}

/** Whether a target stays although no intent asks for it any more; the reason goes to `problems`. */
function isKept(target: ActualTarget, uid: IntentUID, { input }: StepContext, problems: FoundProblems): boolean {
  const { record, path } = target;
  if (record === undefined || isUnpublishRequested(record, input)) return false;
  const held = isHeldByPod(record, input);
  if (!held && !isUnexplained(target, uid)) return false;
  problems.targets.set(path, held ? consumerStillRunning(record) : unexplained(path));
  return true;
}

/**
 * Whether a target was mounted for an intent whose deletion was not observed. Once someone has unmounted it, it may go.
 */
function isUnexplained({ record, truth }: ActualTarget, uid: IntentUID): boolean {
  return record !== undefined && record.uid !== uid && truth !== "absent";
}

function unexplained(path: MountPath): Problem {
  const message = `${path} was mounted for an intent that vanished without being deleted: it is kept. Unmount it by hand, or name it in the intent again`;
  return { reason: "UnexplainedRemoval", message, on: { kind: "Mount", name: path } };
}
