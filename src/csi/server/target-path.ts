import type { PodTarget } from "./ports.ts";

/** As of pods[].uid and pods[].volume in the CRD. */
const podUID = /^(?=.{1,64}$)[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?$/;
const volumeName = /^(?=.{1,63}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/** Where kubelet's csi plugin has the volumes of a pod (behaviour 102). */
export const targetForm = "pods/<uid>/volumes/kubernetes.io~csi/<volume>/mount";

/**
 * PURE. Whose volume a target path is; undefined if kubelet has no volume of a pod there.
 * @param kubeletDir kubelet's root directory, without a slash at its end
 */
export function podTargetOf(path: string, kubeletDir: string): PodTarget | undefined {
  const above = `${kubeletDir}/`;
  if (!path.startsWith(above)) return undefined;
  const [pods, uid = "", volumes, plugin, volume = "", mount, ...more] = path.slice(above.length).split("/");
  const isForm = pods === "pods" && volumes === "volumes" && plugin === "kubernetes.io~csi" && mount === "mount";
  if (!isForm || more.length > 0 || !podUID.test(uid) || !volumeName.test(volume)) return undefined;
  return { podUID: uid, volume, path };
}
