import type { IntentPod } from "../../api/types.gen.ts";
import type { PodTarget } from "../../csi/server/ports.ts";
import { podTargetOf } from "../../csi/server/target-path.ts";
import { isBeneath } from "../../host/mount-table/mount-table.ts";
import { asMountPath, type MountPath } from "./identities.ts";

/** One volume of one pod: what kubelet calls a consumer of ours. */
export type PodVolume = Pick<PodTarget, "podUID" | "volume">;

/**
 * PURE. Where kubelet wants the volume of a pod, as it says in NodePublishVolume (kubelet:
 * pkg/volume/csi/csi_mounter.go, getTargetPath).
 */
export function podTargetPath(kubeletDir: string, { uid, volume }: Pick<IntentPod, "uid" | "volume">): MountPath {
  return asMountPath(`${kubeletDir}/pods/${uid}/volumes/kubernetes.io~csi/${volume}/mount`);
}

/** PURE. The pod and volume that a path is for; undefined if it is no such path of kubelet. */
export function podOfPath(kubeletDir: string | undefined, path: string): PodVolume | undefined {
  return kubeletDir === undefined ? undefined : podTargetOf(path, kubeletDir);
}

/** PURE. kubelet's directory of a pod: while it is there, kubelet has not cleaned up the pod. */
export function podDirectory(kubeletDir: string, podUID: string): string {
  return `${kubeletDir}/pods/${podUID}`;
}

/** PURE. Whether kubelet has such paths for itself: no host mount may be there. */
export function isOfKubelet(kubeletDir: string | undefined, path: string): boolean {
  return kubeletDir !== undefined && isBeneath(path, `${kubeletDir}/pods`);
}
