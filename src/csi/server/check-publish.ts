import { cut } from "../../api/conditions.ts";
import { isBadAttribute, podVolumeRequest } from "../../api/pod-attributes.ts";
import { quoted } from "../../api/values/printable.ts";
import type { NodePublishVolumeRequest, NodeUnpublishVolumeRequest, VolumeCapability } from "../gen/csi.gen.ts";
import type { PodPublish, PodTarget } from "./ports.ts";
import { RefusedCall } from "./refused-call.ts";
import { podTargetOf, targetForm } from "./target-path.ts";

/** Keys of the volume context by which kubelet describes the pod (podInfoOnMount, behaviour 105). */
const info = {
  uid: "csi.storage.k8s.io/pod.uid",
  namespace: "csi.storage.k8s.io/pod.namespace",
  name: "csi.storage.k8s.io/pod.name",
  ephemeral: "csi.storage.k8s.io/ephemeral",
} as const;

/**
 * PURE. The arguments of kubelet's NodePublishVolume, checked.
 * @throws RefusedCall if one is missing or invalid, with the field and what to do
 */
export function checkPublish(request: NodePublishVolumeRequest, kubeletDir: string): PodPublish {
  const { volumeContext: context, volumeCapability: capability } = request;
  if (request.volumeId === "") throw missing("volume_id");
  if (request.targetPath === "") throw missing("target_path");
  if (capability === undefined) throw missing("volume_capability");
  checkCapability(capability);
  const target = targetOf(request.targetPath, kubeletDir);
  if (context.get(info.ephemeral) !== "true") {
    const why = `volume_context[${info.ephemeral}] must be "true"`;
    throw invalid(`${why}: pods name node volumes in an inline volume (csi.driver), never by a PersistentVolume`);
  }
  const podUID = infoOf(context, info.uid);
  if (podUID !== target.podUID) {
    throw invalid(
      `target_path is of the pod ${target.podUID}, volume_context[${info.uid}] is ${quoted(cut(podUID, 64))}`,
    );
  }
  // Secrets of the pod are not looked at: that it names one lets the agent read it as its node, for the volume's own
  // driver (decision 0035).
  const wish = podVolumeRequest(context, request.readonly);
  if (isBadAttribute(wish)) throw invalid(`${wish.field} ${wish.message}`);
  const pod = { namespace: infoOf(context, info.namespace), podName: infoOf(context, info.name) };
  return { ...target, ...pod, ...wish, containersRead: request.readonly };
}

/**
 * PURE. The arguments of kubelet's NodeUnpublishVolume, checked.
 * @throws RefusedCall if it is no volume of a pod
 */
export function checkUnpublish(request: NodeUnpublishVolumeRequest, kubeletDir: string): PodTarget {
  if (request.volumeId === "") throw missing("volume_id");
  if (request.targetPath === "") throw missing("target_path");
  return targetOf(request.targetPath, kubeletDir);
}

/** fsType, flags and group are the volume's: no pod may change them for the others. kubelet sends none by itself. */
function checkCapability({ block, mount }: VolumeCapability): void {
  if (block !== undefined) {
    throw invalid(
      "volume_capability.block: node volumes are given to pods as directories: use volumeMounts, not volumeDevices",
    );
  }
  if (mount === undefined) throw missing("volume_capability.mount");
  if (mount.fsType !== "") throw invalid("csi.fsType: the set or the claim specifies the file system: remove it");
  if (mount.mountFlags.length > 0) {
    throw invalid(
      "volume_capability.mount.mount_flags: the set or the claim has the mount options: leave them out here",
    );
  }
  if (mount.volumeMountGroup !== "") {
    throw invalid("volume_capability.mount.volume_mount_group: this driver has no VOLUME_MOUNT_GROUP capability");
  }
}

function targetOf(path: string, kubeletDir: string): PodTarget {
  const target = podTargetOf(path, kubeletDir);
  if (target !== undefined) return target;
  const why = `target_path ${quoted(cut(path, 256))} is not ${kubeletDir}/${targetForm}`;
  throw invalid(`${why}: the agent's --kubelet-dir must be kubelet's --root-dir`);
}

function infoOf(context: ReadonlyMap<string, string>, key: string): string {
  const value = context.get(key) ?? "";
  if (value === "") throw invalid(`volume_context[${key}] is needed: the CSIDriver must have podInfoOnMount: true`);
  return value;
}

function missing(field: string): RefusedCall {
  return invalid(`${field} is needed`);
}

function invalid(message: string): RefusedCall {
  return new RefusedCall("INVALID_ARGUMENT", message);
}
