import type { Problem } from "../model/actual-volume.ts";
import type { PlanInput } from "../model/plan-input.ts";
import type { TargetRecord, VolumeRecord } from "../model/volume-record.ts";

type Closing = Pick<PlanInput, "closingPods">;

/**
 * PURE. Whether kubelet still has the target of a pod: nobody but kubelet takes it away (safety rule 7), whatever has
 * become of the intent. After a reboot it is no pod's any more (afterReboot).
 */
export function isHeldByPod(target: TargetRecord | undefined, { closingPods }: Closing): target is TargetRecord {
  return target?.pod !== undefined && closingPods?.has(target.path) !== true;
}

/**
 * PURE. Whether kubelet has called NodeUnpublishVolume for the target: it is unmounted whatever the intent says. The
 * path alone decides, because no other target can have it: after a reboot the record has no pod any more, and kubelet
 * unpublishes what it finds of the previous boot.
 */
export function isUnpublishRequested(target: TargetRecord | undefined, { closingPods }: Closing): boolean {
  return target !== undefined && closingPods?.has(target.path) === true;
}

/** PURE. The targets of such calls, in one text that can be compared; undefined if there are none. */
export function unpublishRequests(record: VolumeRecord | undefined, input: Closing): string | undefined {
  if (input.closingPods === undefined || input.closingPods.size === 0) return undefined;
  const given = (record?.targets ?? []).filter((target) => isUnpublishRequested(target, input));
  return given.length === 0 ? undefined : given.map(({ path }) => path).join("\n");
}

/** Why a volume goes on with the options that it is mounted with. */
export function optionsWait(holder: TargetRecord): Problem {
  const { message, ...problem } = consumerStillRunning(holder);
  return { ...problem, message: `it is mounted with the options of before, the new ones need a new mount: ${message}` };
}

/** Why a volume goes on with the credentials that it is mounted with. */
export function credentialsWait(holder: TargetRecord): Problem {
  const { message, ...problem } = consumerStillRunning(holder);
  const what = "it is mounted with the credentials of before, those that the Secret has now need a new mount";
  return { ...problem, message: `${what}: ${message}` };
}

/**
 * PURE. The problem of a pod's target that no intent names any more while the pod runs: kubelet unpublishes it, not the
 * agent.
 */
export function consumerStillRunning({ pod, path }: Pick<TargetRecord, "pod" | "path">): Problem {
  const { namespace = "", name = "" } = pod ?? {};
  return {
    reason: "ConsumerStillRunning",
    message: `pod ${namespace}/${name} still has the volume: kubelet gives ${path} back when the pod has ended`,
    on: { kind: "Pod", namespace, name },
  };
}
