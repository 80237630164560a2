import { observeKubeletVolume, podKey } from "../actual/kubelet-volume-view.ts";
import { tableUnreadable } from "../actual/mount-problems.ts";
import { noProblems, type Problem } from "../model/actual-volume.ts";
import type { DesiredVolume } from "../model/desired.ts";
import type { KubeletPod, KubeletView, KubeletVolume } from "../model/kubelet-view.ts";
import { lastObservation, type Observation, type PlanInput } from "../model/plan-input.ts";
import type { VolumePlan } from "../model/volume-plan.ts";
import { nextOperation } from "./next-operation.ts";
import type { Steps } from "./step-context.ts";

/**
 * Milliseconds until kubelet's directories are looked at again. A driver makes the mount point and then mounts; one
 * that is still there without a mount after this time is one that somebody unmounted.
 */
const settleMs = 5_000;
const steadyMs = 60_000;

/**
 * PURE. A volume that kubelet manages: what the node's table shows of it, and whether kubelet has a mount point where
 * nothing is mounted. Nothing is done but to look.
 */
export function planKubelet(desired: DesiredVolume, volume: KubeletVolume, input: PlanInput): VolumePlan {
  const { name, generation } = desired;
  const { settings, now } = input;
  const seen = lastObservation(desired, input.observed);
  const shown = observeKubeletVolume(
    volume,
    input.table && (input.nodeTable ?? input.table),
    settings.kubeletDir ?? "",
  );
  const asked = absent(shown);
  const fresh = seen?.generation === generation && seen.kubelet?.asked === asked;
  const holdsMs = seen?.steady === true ? steadyMs : settleMs;
  // The end of a missing mount is recorded, too, so that the next missing one is searched anew.
  const over = asked !== "" ? !fresh || now - seen.at >= holdsMs : (seen?.kubelet?.asked ?? "") !== "";
  const due = input.table !== undefined && over;
  const kubelet = fresh && seen.steady === true ? withMissing(shown, seen) : shown;
  const problem = problemOf(volume, kubelet, input);
  const steps: Steps = {
    actions: due ? [{ kind: "observe" }] : [],
    problems: { ...noProblems, ...(problem && { volume: problem }) },
  };
  const running = input.pendingOperations.get(name);
  const base = {
    name,
    phase: "observe" as const,
    desired,
    actualState: { stage: { truth: "absent" as const }, targets: [], inUse: kubelet.inUse, kubelet },
    problems: steps.problems,
    pending: [],
  };
  if (running !== undefined) return { ...base, running };
  const { operation, retryAt = Number.POSITIVE_INFINITY } = nextOperation(name, steps, "observe", input, generation);
  const again = fresh && asked !== "" ? seen.at + holdsMs : Number.POSITIVE_INFINITY;
  const next = Math.min(retryAt, again);
  return { ...base, ...(operation && { operation }), ...(Number.isFinite(next) && { retryAt: next }) };
}

/** The pods whose mount is not there, as one word; "" if there is nothing to look for. */
export function absent({ pods }: KubeletView): string {
  return pods
    .filter(({ mount, partly, path }) => mount === undefined && !partly && path !== "")
    .map(({ pod }) => podKey(pod))
    .join(" ");
}

/** Pods for which kubelet has a mount point, and has had it for a while, that nothing is mounted on. */
function withMissing(view: KubeletView, { kubelet }: Observation): KubeletView {
  const left = new Set(kubelet?.left);
  const pods = view.pods.map((one) => (left.has(podKey(one.pod)) ? { ...one, drift: "Missing" as const } : one));
  return { ...view, pods };
}

function problemOf(volume: KubeletVolume, view: KubeletView, input: PlanInput): Problem | undefined {
  if (input.table === undefined) return tableUnreadable;
  const drifted = view.pods.find(({ drift }) => drift !== undefined);
  if (drifted !== undefined) return { reason: "Drifted", message: driftMessage(drifted), on: podOf(drifted) };
  const waiting = view.pods.find(({ mount }) => mount === undefined);
  if (waiting === undefined) return undefined;
  const { driver } = volume.observed;
  const { namespace, name } = waiting.pod;
  if (driver !== undefined && input.registered?.(driver) === false) {
    const message = `driver ${driver} is not registered on this node, so kubelet cannot mount the volume for pod ${namespace}/${name}: is its DaemonSet's pod here, and Ready?`;
    return { reason: "DriverNotRegistered", message, on: { kind: "CSIDriver", name: driver } };
  }
  const so = waiting.path === "" ? "which volume it is is not known yet" : stageWord(view);
  const message = `kubelet has not mounted the volume for pod ${namespace}/${name} yet; ${so}`;
  return { reason: "WaitingForKubelet", message, on: podOf(waiting) };
}

function stageWord({ staged, inUse }: KubeletView): string {
  if (staged !== undefined) return "it is staged on the node";
  return inUse ? "other pods of the node have it" : "the node has no mount of it";
}

/**
 * PURE. Describes the drift of a pod's mount that kubelet manages, with a remedy: the agent repairs nothing of
 * kubelet's.
 */
export function driftMessage({ drift, path, pod, mount }: KubeletPod): string {
  const whose = `of pod ${pod.namespace}/${pod.name}`;
  switch (drift) {
    case "Missing":
      return `kubelet's mount point ${whose} has nothing mounted on it any more (${path}): somebody unmounted it, or its driver does not end; kubelet never looks: delete the pod to have it mounted anew`;
    case "ReadOnlyFlip":
      return `the kernel made the file system ${whose} read-only after an error (${mount?.source ?? path}): see dmesg, check the device`;
    default:
      return `the mount ${whose} is covered, or covers another one (${path}): unmount what kubelet has not mounted`;
  }
}

function podOf({ pod: { namespace, name } }: KubeletPod): NonNullable<Problem["on"]> {
  return { kind: "Pod", namespace, name };
}
