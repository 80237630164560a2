import { cut } from "../../api/conditions.ts";
import type { PodMountStatus } from "../../api/types.gen.ts";
import { takesPods } from "../desired/pod-mounts.ts";
import { type ActualTarget, isMounted } from "../model/actual-volume.ts";
import { isInvalid } from "../model/desired.ts";
import type { VolumePlan } from "../model/volume-plan.ts";
import type { PodOfTarget } from "../model/volume-record.ts";
import { refusedGroup } from "./refused-group.ts";
import { stateOfTarget } from "./volume-summary.ts";

/** Pods that the schema takes: the spec's 256, and as many that have left and still run. */
const longest = 512;

/** PURE. The pods of a volume: those of the spec in its order, then those that left it and still have the volume. */
export function podStatuses(volume: VolumePlan): PodMountStatus[] {
  const { desired, actualState } = volume;
  const managed = desired === undefined || isInvalid(desired) || takesPods(desired) ? desired : undefined;
  const listed = managed === undefined || isInvalid(managed) ? [] : (managed.pods ?? []);
  const targets = new Map(
    actualState.targets.flatMap((target) => (podOf(target) ? [[keyOf(podOf(target)), target]] : [])),
  );
  const shown = listed.map((pod): PodMountStatus => {
    const target = targets.get(keyOf(pod));
    targets.delete(keyOf(pod));
    return target === undefined ? { uid: pod.uid, volume: pod.volume, state: "Pending" } : statusOfPod(target, volume);
  });
  return [...shown, ...[...targets.values()].map((target) => statusOfPod(target, volume))].slice(0, longest);
}

/** The pod that a target is or was for; undefined if it is the host's. */
export function podOf({ desired, record }: ActualTarget): PodOfTarget | undefined {
  return desired?.pod ?? record?.pod;
}

function statusOfPod(target: ActualTarget, volume: VolumePlan): PodMountStatus {
  const { uid = "", volume: name = "" } = podOf(target) ?? {};
  return { uid, volume: name, ...targetStatus(target, volume, 256) };
}

/** PURE. What the status has of a target, the host's or a pod's. @param longestMessage by the schema */
export function targetStatus(
  target: ActualTarget,
  { problems }: VolumePlan,
  longestMessage: number,
): Omit<PodMountStatus, "uid" | "volume"> {
  const problem = problems.targets.get(target.path) ?? target.problem ?? refusedGroup(target);
  const { drift, ours } = target;
  return {
    state: stateOfTarget(target, problem !== undefined),
    ...(ours && isMounted(target) && { mountID: String(ours.id) }),
    ...(drift && { drift }),
    ...(problem && { reason: problem.reason, message: cut(problem.message, longestMessage) }),
  };
}

function keyOf(pod: Pick<PodOfTarget, "uid" | "volume"> | undefined): string {
  return `${pod?.uid}~${pod?.volume}`;
}
