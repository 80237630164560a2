import { hash } from "node:crypto";
import type { IntentPod, ObservedVolume } from "../../api/types.gen.ts";
import { podTargetPath } from "../model/pod-path.ts";

/**
 * Where kubelet has what it mounts, beneath its root directory (kubelet: pkg/kubelet/kubelet_getters.go,
 * pkg/volume/csi/csi_util.go, csi_attacher.go makeDeviceMountPath, csi_block.go). A volume is named there as its
 * PersistentVolume is.
 */
const plugins = "plugins/kubernetes.io/csi";

type UseOfVolume = Pick<IntentPod, "uid"> & Pick<ObservedVolume, "volumeName">;

/** What is mounted for one pod, the last step first: a block volume is published by its driver, then bound again. */
export function podPaths(kubeletDir: string, { uid, volumeName }: UseOfVolume, block: boolean): readonly string[] {
  if (!block) return [podTargetPath(kubeletDir, { uid, volume: volumeName })];
  const devices = `${kubeletDir}/${plugins}/volumeDevices`;
  return [`${devices}/${volumeName}/dev/${uid}`, `${devices}/publish/${volumeName}/${uid}`];
}

/** Directory of a pod's binds of parts of a volume. */
export function subPathDirectory(kubeletDir: string, { uid, volumeName }: UseOfVolume): string {
  return `${kubeletDir}/pods/${uid}/volume-subpaths/${volumeName}`;
}

/** Where the driver was told to stage the volume: as kubelet does now, and as it did before 1.24. */
export function stagingPaths(
  kubeletDir: string,
  { driver = "", volumeHandle = "", volumeName }: ObservedVolume,
  block: boolean,
): readonly string[] {
  if (block) return [`${kubeletDir}/${plugins}/volumeDevices/staging/${volumeName}`];
  const name = hash("sha256", volumeHandle, "hex");
  return [
    `${kubeletDir}/${plugins}/${driver}/${name}/globalmount`,
    `${kubeletDir}/${plugins}/pv/${volumeName}/globalmount`,
  ];
}
