import { cut } from "../../api/conditions.ts";
import type { DriftClass } from "../../api/status-values.ts";
import type { NodeVolumeIntentStatus, PodMountStatus } from "../../api/types.gen.ts";
import type { KubeletPod, KubeletView } from "../model/kubelet-view.ts";
import { driftMessage } from "../planner/plan-kubelet.ts";

/** A difference between a mount and its spec, or between a mount and its last known state, in words for people. */
export interface DriftFound {
  readonly class: DriftClass;
  readonly message: string;
}

/** Of the schema, for the message of one pod. */
const longestMessage = 256;

/** PURE. What of a status speaks of a volume that kubelet manages, as the mount table shows it (law L10). */
export function kubeletStatus(
  view: KubeletView | undefined,
): Pick<NodeVolumeIntentStatus, "desiredMounts" | "readyMounts" | "stagingPath" | "devicePath" | "pods"> {
  if (view === undefined) return {};
  const mounted = view.pods.filter(({ mount }) => mount !== undefined);
  const device = (view.staged ?? mounted[0]?.mount)?.source;
  return {
    desiredMounts: view.pods.length,
    readyMounts: mounted.length,
    ...(view.staged && { stagingPath: cut(view.staged.point, 1024) }),
    ...(device?.startsWith("/dev/") === true && { devicePath: cut(device, 1024) }),
    pods: view.pods.map(podStatus),
  };
}

function podStatus(one: KubeletPod): PodMountStatus {
  const { pod, mount, partly, drift } = one;
  return {
    uid: pod.uid,
    volume: pod.volume,
    state: mount !== undefined ? "Mounted" : partly ? "Uncertain" : drift === "Missing" ? "Absent" : "Pending",
    ...(mount && { mountID: String(mount.id) }),
    ...(drift && { drift, reason: "Drifted", message: cut(driftMessage(one), longestMessage) }),
  };
}

/** PURE. How what kubelet has mounted differs from what it mounts, the worst first. */
export function kubeletDrift({ pods }: KubeletView): DriftFound | undefined {
  for (const worst of ["Missing", "ReadOnlyFlip", "Stacked"] as const) {
    const found = pods.find(({ drift }) => drift === worst);
    if (found !== undefined) return { class: worst, message: driftMessage(found) };
  }
  return undefined;
}
