import type { AccessMode, NodeCapabilities, VolumeCapability } from "../../csi/ports.ts";
import { unreachable } from "../../errors.ts";
import type { CSIVolume } from "../../plugins/plugin.ts";

/** PURE. What the driver is asked for (kubelet: pkg/volume/csi/csi_client.go, behaviour 110). */
export function capabilityOf(volume: CSIVolume, of: Pick<NodeCapabilities, "singleNodeMultiWriter">): VolumeCapability {
  const { block, fsType, mountFlags } = volume;
  return {
    access: { mode: accessModeOf(volume, of) },
    volume: block ? { kind: "block" } : { kind: "mount", fsType, mountFlags },
  };
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
