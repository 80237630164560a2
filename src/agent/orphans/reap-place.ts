import { isBeneath } from "../../host/mount-table/mount-table.ts";

/** A mount point that kubelet, or a driver for it, makes for one volume, and what its path says. */
export type ReapPlace =
  | {
      readonly kind: "PodMount";
      readonly uid: string;
      /** The directory that it is reached from without anything mounted on the way. */
      readonly prefix: string;
      /** The driver removes the mount point when it unpublishes; every other is kubelet's to remove. */
      readonly ofDriver: boolean;
    }
  | {
      readonly kind: "Staging";
      readonly driver: string;
      /** SHA-256 of the volume's handle. */
      readonly key: string;
      readonly prefix: string;
      /** Directory of the mount point, in which kubelet has written down what is staged. */
      readonly directory: string;
    };

/** As the API server gives them. kubelet gives static pods 32 digits without a dash (pkg/kubelet/config/common.go). */
const uuid = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
const name = "[^/\\p{Cc}]+";
const podVolume = new RegExp(
  `^(${uuid})/volumes/kubernetes\\.io~(?:(csi)/${name}/mount|(?!csi/)[a-z-]+/${name})$`,
  "u",
);
const podSubPath = new RegExp(`^(${uuid})/volume-subpaths/${name}/${name}/\\d+$`, "u");
const staging = new RegExp(`^(${name})/([0-9a-f]{64})/globalmount$`, "u");

/**
 * PURE. The kind of mount point of a path beneath kubelet's directory, by its form; undefined for every other path: of
 * a static pod, a block volume, a container, another plugin, or kubelet before 1.24.
 */
export function reapPlace(kubeletDir: string, path: string): ReapPlace | undefined {
  const pods = `${kubeletDir}/pods`;
  if (isBeneath(path, pods)) {
    const rest = path.slice(pods.length + 1);
    const found = podVolume.exec(rest) ?? podSubPath.exec(rest);
    const uid = found?.[1];
    if (uid === undefined) return undefined;
    return { kind: "PodMount", uid, prefix: pods, ofDriver: found?.[2] === "csi" };
  }
  const plugin = `${kubeletDir}/plugins/kubernetes.io/csi`;
  if (!isBeneath(path, plugin)) return undefined;
  const [, driver, key] = staging.exec(path.slice(plugin.length + 1)) ?? [];
  if (driver === undefined || key === undefined || driver === "." || driver === "..") return undefined;
  return { kind: "Staging", driver, key, prefix: plugin, directory: path.slice(0, path.lastIndexOf("/")) };
}
