import type { IntentPod, NodeVolumeSetSpec } from "../../api/types.gen.ts";

/** What holds for the bind of a pod, whatever the pod asks for. */
export type SharedAs = Required<Pick<IntentPod, "readOnly">> & Pick<IntentPod, "noexec">;

/**
 * PURE. How pods get the volume of a set. What is on the node's own file system, and what the set itself only reads, is
 * not theirs to write unless the set says so.
 */
export function sharedAs({ allowedNamespaces, mounts, volume }: NodeVolumeSetSpec): SharedAs {
  const isReadAlone = mounts.length > 0 && mounts.every((mount) => mount.readOnly === true);
  const readOnly = allowedNamespaces?.readOnly ?? (isOfNode(volume) || isReadAlone);
  const noexec = mounts.length > 0 && mounts.every(({ mountOptions = [] }) => mountOptions.includes("noexec"));
  return { readOnly, ...(noexec && { noexec }) };
}

/** Directories, with files of the node's programs. */
const noDevices = /^\/dev\/(shm|mqueue|hugepages)(\/|$)/;

/**
 * A directory of the node: of `local.path` whatever is not said to be a device, by its name, its file system, or its
 * encryption.
 */
function isOfNode({ source: { hostPath, local }, fsType }: NodeVolumeSetSpec["volume"]): boolean {
  if (hostPath !== undefined) return true;
  if (local?.path === undefined || fsType !== undefined || local.encryption !== undefined) return false;
  return !local.path.startsWith("/dev/") || noDevices.test(local.path);
}
