import type { RequeueAfter } from "../../kube/keyed-queue.ts";
import type { PodEntry } from "../model/pod-entry.ts";
import type { Intent } from "../model/projections.ts";
import type { Rejection } from "../pods/admitted-pods.ts";
import { decideGates, type GateFacts } from "./decide-gates.ts";
import { type LiftDeps, liftGates } from "./lift-gates.ts";
import { type ShowDeps, showVolumesReady } from "./show-volumes-ready.ts";
import { volumesReady } from "./volumes-ready.ts";

/** Dependencies of reconciling one waiting pod. */
export interface ReconcilePodDeps extends LiftDeps, ShowDeps {
  /** Whether all pods and Namespaces, sets, Nodes and intents are known. Without that nothing is decided (law L8). */
  readonly complete: () => boolean;
  readonly pod: (name: string, namespace: string) => PodEntry | undefined;
  readonly gateFacts: () => GateFacts;
  readonly intentsOf: (node: string) => readonly Intent[];
  /** Why volumes of a pod are in no intent, which was told already. */
  readonly refusals: (pod: PodEntry) => readonly Rejection[];
}

/**
 * Reconciles a waiting pod: its gates are removed when its volumes are available, and its condition shows what is
 * missing.
 *
 * ```
 *  made with gates ─► wait, with a reason ─► gates off, nodes said ─► scheduled ─► False, with a reason ─► True
 * ```
 * @param key `<namespace>/<name>`
 * @returns milliseconds until the next check, if any
 */
export async function reconcilePod(deps: ReconcilePodDeps, key: string): Promise<RequeueAfter | undefined> {
  const [namespace = "", name = ""] = key.split("/");
  const pod = deps.pod(name, namespace);
  if (pod === undefined || !deps.complete()) return undefined;
  // Of a static pod kubelet writes the status; and a pod that goes waits for nothing.
  if (pod.isMirror || pod.deleting) return undefined;
  if (pod.gates !== undefined) {
    const decision = decideGates(pod, deps.gateFacts());
    if (decision === undefined) return undefined;
    const wait = "wait" in decision ? decision.wait : await liftGates(deps, pod, decision.demand);
    return wait && showVolumesReady(deps, pod, { status: "False", ...wait }, false);
  }
  if (pod.nodeName === "" || pod.volumes.length === 0) return undefined;
  const refusals = deps.refusals(pod);
  const wanted = volumesReady(pod, deps.intentsOf(pod.nodeName), refusals);
  return showVolumesReady(deps, pod, wanted, refusals.length > 0);
}

/** PURE. The queue key of a pod. */
export function keyOfPod({ metadata: { namespace = "", name } }: Pick<PodEntry, "metadata">): string {
  return `${namespace}/${name}`;
}
