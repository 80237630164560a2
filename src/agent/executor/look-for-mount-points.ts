import { observeKubeletVolume, podKey } from "../actual/kubelet-volume-view.ts";
import type { KubeletVolume } from "../model/kubelet-view.ts";
import type { Observed } from "../model/plan-input.ts";
import { absent } from "../planner/plan-kubelet.ts";
import type { ActionContext } from "./operation-context.ts";

/**
 * Whether kubelet has a mount point where nothing is mounted: a driver removes it when it unpublishes. Reads only, and
 * where anything remote is mounted on the way, in a child.
 */
export async function lookForMountPoints(context: ActionContext, volume: KubeletVolume): Promise<Observed> {
  const { host, settings, effects } = context;
  const table = await (host.nodeTable ?? host.mountTable).read();
  const view = observeKubeletVolume(volume, table, settings.kubeletDir ?? "");
  const asked = absent(view);
  const left: string[] = [];
  for (const { pod, path, mount, partly } of view.pods) {
    if (mount !== undefined || partly || path === "") continue;
    const found = await effects.mounter.inspect({ root: settings.hostRoot, path });
    if (found !== undefined) left.push(podKey(pod));
  }
  return { kubelet: { asked, left } };
}
