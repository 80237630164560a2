import { cut, findCondition } from "../../api/conditions.ts";
import type { Reason } from "../../api/reasons.ts";
import type { PodEntry } from "../model/pod-entry.ts";
import type { Intent } from "../model/projections.ts";
import { isObserved } from "../nodes/availability.ts";
import type { Rejection } from "../pods/admitted-pods.ts";

/** What the pod's condition `nodevolume.dev/VolumesReady` shall say. */
export interface VolumesReady {
  readonly status: "True" | "False";
  readonly reason: string;
  readonly message: string;
}

/**
 * Whether a pod that was scheduled has its volumes: by what the agent reports of the intents that name it (safety rule
 * 25: tenants cannot read these). The first that is missing gives the reason. Pure.
 * @param intents of the pod's node
 * @param refusals why volumes of the pod are in no intent
 */
export function volumesReady(pod: PodEntry, intents: readonly Intent[], refusals: readonly Rejection[]): VolumesReady {
  for (const { name } of pod.volumes) {
    const missing = missingOf(pod, name, intents, refusals);
    if (missing === undefined) continue;
    const message = `volume ${name}${missing.message === "" ? "" : `: ${missing.message}`}`;
    return { status: "False", reason: cut(missing.reason, 128), message: cut(message, 1024) };
  }
  const names = pod.volumes.map(({ name }) => name).join(", ");
  return { status: "True", reason: "Mounted" satisfies Reason, message: cut(`mounted: ${names}`, 1024) };
}

/** undefined: it is there. */
function missingOf(
  pod: PodEntry,
  volume: string,
  intents: readonly Intent[],
  refusals: readonly Rejection[],
): { readonly reason: string; readonly message: string } | undefined {
  const refusal = refusals.find((one) => one.volume === volume);
  if (refusal !== undefined) return refusal;
  const isIts = (entry: { readonly uid: string; readonly volume: string }) =>
    entry.uid === pod.uid && entry.volume === volume;
  const intent = intents.find(({ spec }) => spec.observed === undefined && spec.pods?.some(isIts) === true);
  if (intent === undefined) return { reason: "NotObserved" satisfies Reason, message: "no intent names the pod yet" };
  const { status } = intent;
  const shown = status.pods?.find(isIts);
  // Once kubelet has been given it, another pod that comes to the same volume takes nothing from it.
  if (shown?.state === "Mounted" && shown.reason === undefined) return undefined;
  if (shown?.reason !== undefined) return { reason: shown.reason, message: shown.message ?? "" };
  // The controller's word of what its own side waits for says more than that the agent waits for the controller.
  const { reason, message = "" } = status.attach ?? {};
  if (reason !== undefined && intent.spec.grant === undefined) return { reason, message };
  if (status.waiting !== undefined) return { reason: status.waiting.reason, message: status.waiting.message ?? "" };
  const ready = findCondition(status.conditions, "Ready");
  if (ready !== undefined && ready.status !== "True") return { reason: ready.reason, message: ready.message ?? "" };
  if (!isObserved(intent)) return { reason: "NotObserved" satisfies Reason, message: "the agent has not seen the pod" };
  return {
    reason: "Progressing" satisfies Reason,
    message: "the volume is mounted on the node, and not in the pod yet",
  };
}
