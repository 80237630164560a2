import type { DriftClass } from "../../api/status-values.ts";
import type { IntentPod } from "../../api/types.gen.ts";
import { isBeneath, type MountTable } from "../../host/mount-table/mount-table.ts";
import type { MountEntry } from "../../host/mount-table/mountinfo.ts";
import type { KubeletPod, KubeletView, KubeletVolume } from "../model/kubelet-view.ts";
import { podPaths, stagingPaths, subPathDirectory } from "./kubelet-paths.ts";

/** File systems that the kernel makes read-only by itself after an error. */
const flipping: ReadonlySet<string> = new Set(["ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs"]);

/** PURE. By the mount table alone: no path of a volume is looked up, so nothing can hang (behaviour 21). */
export function observeKubeletVolume(
  volume: KubeletVolume,
  table: MountTable | undefined,
  kubeletDir: string,
): KubeletView {
  const { observed, block, pods } = volume;
  const { volumeName } = observed;
  const pathsOf = (uid: string) => (volumeName === "" ? [] : podPaths(kubeletDir, { uid, volumeName }, block));
  const staging = observed.driver === undefined ? [] : stagingPaths(kubeletDir, observed, block);
  const points = [...staging, ...pods.flatMap(({ uid }) => pathsOf(uid))];
  if (table === undefined) {
    const unknown = pods.map((pod) => ({ pod, path: pathsOf(pod.uid)[0] ?? "", partly: false }));
    return { pods: unknown, inUse: true, points };
  }
  const shown = pods.map((pod) => observeKubeletPod(pod, pathsOf(pod.uid), table));
  const staged = staging.flatMap((path) => table.at(path) ?? [])[0];
  const held = staging.some((path) => table.layers(path).length > 0);
  const bound = shown.some(({ mount, partly }) => mount !== undefined || partly);
  const inUse = held || bound || pods.some(({ uid }) => hasSubPaths(uid));
  return { ...(staged && { staged }), pods: shown, inUse, points };

  /** Binds of parts of it, which kubelet takes down before the volume's own. */
  function hasSubPaths(uid: string): boolean {
    const directory = subPathDirectory(kubeletDir, { uid, volumeName });
    return volumeName !== "" && table?.entries.some(({ point }) => isBeneath(point, directory)) === true;
  }
}

/** @param paths the last step first */
function observeKubeletPod(pod: IntentPod, paths: readonly string[], table: MountTable): KubeletPod {
  const [path = "", ...before] = paths;
  const layers = path === "" ? [] : table.layers(path);
  const mount = layers.length === 0 ? undefined : table.at(path);
  const partly = mount === undefined && (layers.length > 0 || before.some((step) => table.layers(step).length > 0));
  const drift = layers.length > 1 || (layers.length > 0 && mount === undefined) ? "Stacked" : flipOf(mount);
  return { pod, path, partly, ...(mount && { mount }), ...(drift && { drift }) };
}

/** What a driver mounts read-only is so as a mount; what the kernel makes read-only, as a file system alone. */
function flipOf(mount: MountEntry | undefined): DriftClass | undefined {
  if (mount === undefined || !flipping.has(mount.fsType)) return undefined;
  return mount.superOptions.includes("ro") && mount.options.includes("rw") ? "ReadOnlyFlip" : undefined;
}

/** Key of a pod's volume. */
export function podKey({ uid, volume }: Pick<IntentPod, "uid" | "volume">): string {
  return `${uid}~${volume}`;
}
