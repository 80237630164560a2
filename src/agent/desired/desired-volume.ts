import type { NodeVolumeIntent, NodeVolumeIntentSpec } from "../../api/types.gen.ts";
import { canonicalOptions } from "../../api/values/mount-options.ts";
import type { MountAttributes } from "../../host/ports/types.ts";
import type { VolumeSpec } from "../../plugins/api/volume-plugin.ts";
import { needsGrantedVolume } from "../../plugins/csi.ts";
import { pluginFor, sourceType } from "../../plugins/registry.ts";
import type { DesiredVolume } from "../model/desired.ts";
import { asIntentUID, asMountPath, asVolumeName } from "../model/identities.ts";
import type { KubeletVolume } from "../model/kubelet-view.ts";
import { fileLabel } from "./selinux-label.ts";

/** @param key hash of the intent's name */
export function desiredVolume(intent: NodeVolumeIntent, key: string): DesiredVolume {
  const { metadata, spec } = intent;
  const volume: VolumeSpec = {
    key,
    nodeName: spec.nodeName,
    source: spec.source,
    volumeMode: spec.volumeMode,
    mountOptions: canonicalOptions(spec.mountOptions ?? []),
    ...(spec.fsType === undefined ? {} : { fsType: spec.fsType }),
    ...(spec.destroyAllDataOnDevices && { destroyAllDataOnDevices: spec.destroyAllDataOnDevices }),
    ...(spec.capacityBytes !== undefined && { capacityBytes: spec.capacityBytes }),
    ...(spec.grant && { grant: spec.grant }),
  };
  const layout = pluginFor(spec.source).layout(volume);
  const kubelet = kubeletVolumeOf(spec);
  return {
    name: asVolumeName(metadata.name),
    uid: asIntentUID(metadata.uid ?? ""),
    generation: metadata.generation ?? 0,
    deleting: metadata.deletionTimestamp !== undefined,
    mode: spec.mode,
    suspend: spec.suspend,
    granted: spec.grant !== undefined && (layout.csi !== undefined || !needsGrantedVolume(spec)),
    type: sourceType(spec.source),
    spec: volume,
    layout,
    mounts: spec.mounts.map((mount) => ({
      name: mount.name,
      path: asMountPath(mount.path),
      attributes: requestedAttributes(mount.mountOptions ?? [], mount.readOnly || layout.readOnly, layout.devices),
      ...(mount.fsGroup !== undefined && { fsGroup: mount.fsGroup }),
      ...(mount.fsGroupChangePolicy !== undefined && { fsGroupChangePolicy: mount.fsGroupChangePolicy }),
      ...(mount.seLinuxOptions !== undefined && { seLinuxLabel: fileLabel(mount.seLinuxOptions) }),
    })),
    ...(spec.pods !== undefined && spec.pods.length > 0 && { pods: spec.pods }),
    unmountPolicy: spec.unmountPolicy,
    deletionPolicy: spec.deletionPolicy,
    adopt: spec.adopt,
    ...(spec.capacityBytes !== undefined && { capacityBytes: spec.capacityBytes }),
    ...(kubelet && { kubelet }),
  };
}

/** nosuid and nodev unless they are named away. */
export function requestedAttributes(options: readonly string[], readOnly: boolean, devices: boolean): MountAttributes {
  const has = (option: string) => options.includes(option);
  return {
    readOnly,
    nosuid: !has("suid"),
    nodev: has("nodev") || !(has("dev") || devices),
    noexec: has("noexec"),
    nosymfollow: has("nosymfollow"),
    nodiratime: has("nodiratime"),
    atime: has("noatime") ? "noatime" : has("strictatime") ? "strictatime" : "relatime",
  };
}

/** PURE. What of an intent speaks of a volume that kubelet manages; undefined if nothing does. */
function kubeletVolumeOf(
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
