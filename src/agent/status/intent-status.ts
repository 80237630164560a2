import { type ConditionInput, cut, mergeConditions, settlingOf, timestamp } from "../../api/conditions.ts";
import type { Reason } from "../../api/reasons.ts";
import type { NodeVolumeIntent, NodeVolumeIntentStatus, Transition } from "../../api/types.gen.ts";
import { type ActualTarget, isInSync, isMounted } from "../model/actual-volume.ts";
import { isInvalid } from "../model/desired.ts";
import type { VolumePlan } from "../model/volume-plan.ts";
import { wantsMore } from "../planner/csi-steps.ts";
import { kubeletStatus } from "./kubelet-status.ts";
import { podOf, podStatuses, targetStatus } from "./pod-status.ts";
import { shownVersion } from "./shown-version.ts";
import type { AgentStatus, StatusContext } from "./status-context.ts";
import {
  attachWait,
  hasPods,
  summaryOf,
  type VolumeState,
  type VolumeSummary,
  waitingOf,
  withAttach,
} from "./volume-summary.ts";

/** States of history that are kept. */
const historyLength = 10;
/** Mounts that the schema takes: the spec's 64, and paths that earlier specs had and that are busy. */
const longestMounts = 128;
/** Of the schema, for the message of one mount. */
const longestMessage = 512;

/**
 * PURE. The status that an intent should have. Everything in it comes from the mount table and the record; of the
 * previous status only what was is taken over (since when, history, the last error until Ready), never a decision.
 */
export function statusOf(intent: NodeVolumeIntent, volume: VolumePlan, context: StatusContext): AgentStatus {
  const previous: Partial<NodeVolumeIntentStatus> =
    intent.metadata.uid === intent.status?.observedUID ? intent.status : {};
  const generation = intent.metadata.generation ?? 0;
  const attach = intent.status?.attach;
  const summary = summaryOf(volume);
  const volumeState = withAttach(summary, attach);
  const { drift } = summary;
  const own = waitingOf(volume, previous.waiting, context);
  const waiting = own && attach ? attachWait(own, volumeState, attach) : own;
  const { record, mount } = volume.actualState.stage;
  const wanted = volume.actualState.targets.filter((target) => target.desired !== undefined);
  const lastError = lastErrorOf(volume, volumeState, previous);
  const pods = podStatuses(volume);
  return {
    observedUID: intent.metadata.uid ?? "",
    observedGeneration: Math.max(generation, previous.observedGeneration ?? 0),
    ...(intent.spec.grant && { grantID: intent.spec.grant.id }),
    inUse: volume.actualState.inUse || isBeingSetUp(volume),
    state: volumeState.state,
    desiredMounts: wanted.length,
    readyMounts: wanted.filter(isInSync).length,
    ...((record?.kind === "filesystem" || record?.csi !== undefined) && mount && { stagingPath: record.path }),
    ...(record?.deviceNumber !== undefined && mount && { devicePath: mount.source }),
    ...(record?.kind === "swap" && volume.actualState.stage.truth === "mounted" && { devicePath: record.path }),
    ...(volume.record?.sharedDisk !== undefined && { disk: volume.record.sharedDisk }),
    ...(volume.record?.attachmentsAsked && { attachmentsRequest: volume.record.attachmentsAsked.request }),
    ...(record?.contentVersion !== undefined && { contentVersion: shownVersion(record.contentVersion) }),
    ...capacityOf(volume),
    ...kubeletStatus(volume.actualState.kubelet),
    mounts: shownTargets(volume).map((target) => {
      return { name: target.name, path: target.path, ...targetStatus(target, volume, longestMessage) };
    }),
    ...(pods.length > 0 && { pods }),
    ...(waiting && { waiting }),
    ...(showsPlan(volume) && { plan: volume.pending.slice(0, 16).map((line) => cut(line, 600)) }),
    ...(drift && {
      drift: { ...drift, since: sinceOf(previous.drift, drift.class === previous.drift?.class, context) },
    }),
    ...(lastError && { lastError }),
    history: historyOf(volumeState, previous, context),
    agent: context.agent,
    conditions: mergeConditions(previous.conditions, conditionsOf(volume, volumeState, drift), generation, context.now),
  };
}

function conditionsOf(volume: VolumePlan, volumeState: VolumeState, drift: VolumeSummary["drift"]): ConditionInput[] {
  const ready: ConditionInput = {
    type: "Ready",
    status: volumeState.ready,
    reason: volumeState.reason,
    message: volumeState.message,
  };
  const on = volumeState.reason === "InUseAsSwap";
  const some =
    on ||
    volume.actualState.targets.some(isMounted) ||
    volume.actualState.kubelet?.pods.some(({ mount }) => mount) === true;
  const unused = hasPods(volume) && volumeState.ready === "True";
  const why = unused ? ({ reason: "NoConsumers", message: "no pod has requested it yet" } as const) : volumeState;
  const mounted: ConditionInput = some
    ? {
        type: "Mounted",
        status: "True",
        reason: on ? volumeState.reason : "Mounted",
        message: on ? volumeState.message : "",
      }
    : { type: "Mounted", status: "False", reason: why.reason, message: why.message };
  const drifted: ConditionInput =
    drift === undefined
      ? { type: "Drifted", status: "False", reason: "InSync", message: "" }
      : { type: "Drifted", status: "True", reason: "Drifted", message: drift.message };
  return [ready, ...settlingOf(ready), mounted, drifted, ...healthOf(volume)];
}

/** The volume condition that the driver reports: an abnormal volume may be mounted correctly all the while. */
function healthOf({ health }: VolumePlan): ConditionInput[] {
  if (health?.abnormal !== true) return [];
  return [{ type: "VolumeHealthy", status: "False", reason: "VolumeConditionAbnormal", message: health.message }];
}

/** Those of the host, as many as the schema takes: first those of the spec, then those that have a problem. */
function shownTargets({ actualState, problems }: VolumePlan): readonly ActualTarget[] {
  const targets = actualState.targets.filter((target) => podOf(target) === undefined);
  if (targets.length <= longestMounts) return targets;
  const rank = (t: ActualTarget) =>
    t.desired !== undefined ? 0 : (problems.targets.get(t.path) ?? t.problem ?? t.drift) ? 1 : 2;
  return targets.sort((a, b) => rank(a) - rank(b)).slice(0, longestMounts);
}

const onlyRead = { reason: "NoWritableMount", message: "no mount of the volume here may be written to" };

/** Of a volume of a CSI or flexvolume driver: the size that it has here, and why it has not grown further. */
function capacityOf({ record, desired, failure }: VolumePlan): Pick<AgentStatus, "capacityBytes" | "expansion"> {
  const reached = record?.stage?.csi?.capacityBytes ?? record?.stage?.capacityBytes;
  const shown = reached === undefined ? {} : { capacityBytes: reached };
  if (desired === undefined || isInvalid(desired) || record?.stage === undefined) return shown;
  const { capacityBytes } = desired;
  if (capacityBytes === undefined || !wantsMore(desired, reached)) return shown;
  const { refused } = record.stage.csi ?? {};
  const failed = failure?.kind === "expand" ? failure : undefined;
  const why = refused?.capacityBytes === capacityBytes ? refused : failed;
  const reads = desired.mounts.every(({ attributes }) => attributes.readOnly);
  const { reason, message } = why ?? (reads ? onlyRead : { reason: "Progressing", message: "" });
  return { ...shown, expansion: { capacityBytes, reason, message: cut(message, 1024) } };
}

/** Steps that are not carried out are shown instead. */
function showsPlan({ phase, desired }: VolumePlan): boolean {
  if (desired === undefined || isInvalid(desired)) return false;
  return phase === "observe" || (phase === "setUp" && desired.suspend);
}

function lastErrorOf(
  { failure }: VolumePlan,
  volumeState: VolumeState,
  previous: Partial<NodeVolumeIntentStatus>,
): AgentStatus["lastError"] {
  if (failure === undefined) return volumeState.ready === "True" ? undefined : previous.lastError;
  const time = timestamp(failure.time);
  return { reason: failure.reason, message: cut(failure.message, 1024), operation: failure.kind, time };
}

function historyOf(
  volumeState: VolumeState,
  previous: Partial<NodeVolumeIntentStatus>,
  { now }: StatusContext,
): Transition[] {
  const before = previous.history ?? [];
  const reason: Reason = volumeState.reason;
  if (before.at(-1)?.state === volumeState.state) return before;
  return [...before, { time: timestamp(now), state: volumeState.state, reason }].slice(-historyLength);
}

function sinceOf(previous: { since: string } | undefined, same: boolean, { now }: StatusContext): string {
  return same && previous !== undefined ? previous.since : timestamp(now);
}

/** Effects of a running operation may exist before its record does. */
function isBeingSetUp({ running }: VolumePlan): boolean {
  return running !== undefined && running !== "observe";
}
