import type { NodeVolumeIntentSpec } from "../../api/types.gen.ts";
import type { KubeletVolume } from "../model/kubelet-view.ts";

/** PURE. What of an intent speaks of a volume that kubelet manages; undefined if nothing does. */
export function kubeletVolumeOf(
  spec: Pick<NodeVolumeIntentSpec, "mode" | "observed" | "volumeMode" | "pods">,
): KubeletVolume | undefined {
  const { mode, observed, volumeMode, pods = [] } = spec;
  if (mode !== "Observe" || observed === undefined) return undefined;
  const known = observed.plugin === "kubernetes.io/csi" && isSegment(observed.volumeName);
  const { driver, volumeHandle, ...rest } = observed;
  const named = driver !== undefined &&
    isSegment(driver) && { driver, ...(volumeHandle !== undefined && { volumeHandle }) };
  return {
    // For another plugin, or an invalid name, kubelet's path is not known: nothing is searched.
    observed: { ...rest, ...named, volumeName: known ? observed.volumeName : "" },
    block: volumeMode === "Block",
    pods,
  };
}

/** Whether a name is one part of a path. */
function isSegment(name: string): boolean {
  return name !== "" && name !== "." && name !== ".." && !/[/\p{Cc}]/u.test(name);
}
