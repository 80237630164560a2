import type { AccessMode, NodeCapabilities, VolumeCapability } from "../../../csi/ports.ts";
import { unreachable } from "../../../errors.ts";
import type { CSIVolume } from "../../../plugins/api/volume-plugin.ts";
import { contextOption } from "../../desired/selinux-label.ts";
import type { ToldOwnership } from "../../ownership/fsgroup-policy.ts";

/**
 * PURE. The VolumeCapability of all calls for a volume, the same as when it was staged (kubelet:
 * pkg/volume/csi/csi_client.go, behaviour 110).
 */
export function capabilityOf(
  volume: CSIVolume,
  of: Pick<NodeCapabilities, "singleNodeMultiWriter">,
  { mountGroup, seLinuxLabel }: ToldOwnership,
): VolumeCapability {
  const { block, fsType } = volume;
  const access = { mode: accessModeOf(volume, of) };
  if (block) return { access, volume: { kind: "block" } };
  const mountFlags = [...volume.mountFlags, ...(seLinuxLabel === undefined ? [] : [contextOption(seLinuxLabel)])];
  const group = mountGroup !== undefined && { mountGroup: String(mountGroup) };
  return { access, volume: { kind: "mount", fsType, mountFlags, ...group } };
}

function accessModeOf(
  { accessMode }: CSIVolume,
  { singleNodeMultiWriter }: Pick<NodeCapabilities, "singleNodeMultiWriter">,
): AccessMode {
  switch (accessMode) {
    case "ReadWriteOnce":
      return singleNodeMultiWriter ? "SINGLE_NODE_MULTI_WRITER" : "SINGLE_NODE_WRITER";
    case "ReadWriteOncePod":
      return singleNodeMultiWriter ? "SINGLE_NODE_SINGLE_WRITER" : "SINGLE_NODE_WRITER";
    case "ReadOnlyMany":
      return "MULTI_NODE_READER_ONLY";
    case "ReadWriteMany":
      return "MULTI_NODE_MULTI_WRITER";
    default:
      return unreachable(accessMode);
  }
}
