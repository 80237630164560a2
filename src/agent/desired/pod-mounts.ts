import type { IntentPod } from "../../api/types.gen.ts";
import { type Desired, type DesiredMount, type DesiredVolume, isInvalid } from "../model/desired.ts";
import type { MountPath } from "../model/identities.ts";
import { podTargetPath } from "../model/pod-path.ts";
import { requestedAttributes } from "./desired-volume.ts";

/**
 * PURE. An intent with a mount for each of its pods whose target kubelet has published and not unpublished: from then
 * on these are targets like any other (decision 0034). The same object if there is none.
 * @param isOpen whether the target at a path is published
 */
export function withPods(desired: Desired, kubeletDir: string, isOpen: (path: MountPath) => boolean): Desired {
  if (isInvalid(desired) || !takesPods(desired)) return desired;
  const mounts = (desired.pods ?? []).flatMap((pod): DesiredMount[] => {
    const path = podTargetPath(kubeletDir, pod);
    return isOpen(path) ? [mountOf(pod, path, desired)] : [];
  });
  return mounts.length === 0 ? desired : { ...desired, mounts: [...desired.mounts, ...mounts] };
}

/** PURE. Whether pods get binds of the volume: not if it is observed, nor block devices (safety rule 18). */
export function takesPods({ mode, spec }: DesiredVolume): boolean {
  return mode === "Manage" && spec.volumeMode === "Filesystem";
}

function mountOf(pod: IntentPod, path: MountPath, { layout }: DesiredVolume): DesiredMount {
  const { uid, volume, namespace, name, readOnly, noexec = false, subPath, fsGroup, fsGroupChangePolicy } = pod;
  return {
    name: `${uid}~${volume}`,
    path,
    attributes: requestedAttributes(noexec ? ["noexec"] : [], readOnly || layout.readOnly, false),
    pod: { uid, volume, namespace, name },
    ...(subPath !== undefined && { subPath }),
    ...(fsGroup !== undefined && { fsGroup }),
    ...(fsGroupChangePolicy !== undefined && { fsGroupChangePolicy }),
  };
}
