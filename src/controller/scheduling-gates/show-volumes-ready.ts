import { timestamp } from "../../api/conditions.ts";
import type { KubeObject } from "../../api/meta.ts";
import { readiness, resource } from "../../api/names.ts";
import { isBlocked, isReason, type Reason } from "../../api/reasons.ts";
import type { KubeClient } from "../../kube/client/client.ts";
import type { EventRecorder } from "../../kube/events/event-recorder.ts";
import { arrayIn, recordIn, stringIn } from "../../kube/json.ts";
import type { RequeueAfter } from "../../kube/keyed-queue.ts";
import type { Clock } from "../../ports.ts";
import type { PodEntry } from "../model/pod-entry.ts";
import type { VolumesReady } from "./volumes-ready.ts";

/** Dependencies of writing the readiness condition of a pod. */
export interface ShowDeps {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly recorder: EventRecorder;
  readonly upsertPod: (raw: unknown) => void;
  /** What was last said of pods whose volumes are missing, by UID. */
  readonly said: Map<string, LastReport>;
}

/** The last report about a pod whose volumes are missing. */
export interface LastReport {
  /** Monotonic milliseconds since when something has been missing. */
  readonly since: number;
  /** Monotonic milliseconds of the last time, and what was said. */
  readonly at: number | undefined;
  readonly reason: string | undefined;
}

/** What lasts less than this, in milliseconds, is how a pod usually starts: nobody is told. */
const settleMs = 2_000;
/** The same in other words is written so often. */
const messageMs = 60_000;

/**
 * Says to a pod's owner whether the volumes are there: a condition for each pod with volumes of ours, and one Event for
 * each transition. A pod that starts as usual is told once, that all is there.
 * @param quiet the Event is somebody else's
 * @returns milliseconds after which to look again, if any
 */
export async function showVolumesReady(
  deps: ShowDeps,
  pod: PodEntry,
  wanted: VolumesReady,
  quiet: boolean,
): Promise<RequeueAfter | undefined> {
  const { clock, said } = deps;
  const { uid = "" } = pod.metadata;
  const shown = pod.volumesReady;
  const isShown = shown?.status === wanted.status && shown.reason === wanted.reason;
  if (wanted.status === "True") {
    const before = said.get(uid);
    said.delete(uid);
    if (isShown) return undefined;
    await writeCondition(deps, pod, wanted);
    if (before?.at !== undefined || shown?.status === "False") recordEvent(deps, pod, wanted);
    return undefined;
  }
  const now = clock.monotonic();
  const last = said.get(uid) ?? { since: now, at: undefined, reason: undefined };
  said.set(uid, last);
  const isKnown = pod.volumes.length === 0 ? last.reason === wanted.reason : isShown;
  if (isKnown && (shown === undefined || shown.message === wanted.message)) return undefined;
  const { since, at = Number.NEGATIVE_INFINITY } = last;
  const dueAt = Math.max(since + settleMs, at + (isKnown ? messageMs : settleMs));
  if (now < dueAt) return dueAt - now;
  // A pod that only waits at a gate of a set has no volume whose condition there could be.
  if (pod.volumes.length > 0) await writeCondition(deps, pod, wanted);
  said.set(uid, { since, at: now, reason: wanted.reason });
  if (!quiet && !isKnown) recordEvent(deps, pod, wanted);
  return undefined;
}

/** No problem: the condition shows it, and no Event is needed. */
const onItsWay: ReadonlySet<string> = new Set<Reason>(["NotObserved", "NotGranted", "Progressing"]);

function recordEvent({ recorder }: ShowDeps, { metadata }: PodEntry, { reason, message }: VolumesReady): void {
  if (!isReason(reason) || onItsWay.has(reason)) return;
  const { name, namespace, uid } = metadata;
  const object = { apiVersion: "v1", kind: resource.pods.kind, namespace, name, uid };
  recorder.event({ object, type: isBlocked(reason) ? "Warning" : "Normal", reason, message });
}

/** Reads live and writes with that version, as the list is replaced as a whole and kubelet's conditions are in it. */
async function writeCondition({ client, clock, upsertPod }: ShowDeps, pod: PodEntry, wanted: VolumesReady) {
  const { name, namespace, uid } = pod.metadata;
  const live = await client.get<KubeObject>(resource.pods, { name, namespace });
  if (live === undefined || live.metadata.uid !== uid) return;
  const type = readiness.podCondition;
  const all = arrayIn(recordIn(live, "status"), "conditions");
  const before = all.find((condition) => stringIn(condition, "type") === type);
  const since = stringIn(before, "status") === wanted.status ? stringIn(before, "lastTransitionTime") : undefined;
  const ours = { type, ...wanted, lastTransitionTime: since ?? timestamp(clock.now()) };
  const conditions = [...all.filter((condition) => condition !== before), ours];
  const ref = { name, namespace, uid, resourceVersion: live.metadata.resourceVersion };
  upsertPod(await client.mergePatchStatus(resource.pods, ref, { conditions }));
}
