import type { GrantedCSIVolume } from "../../api/types.gen.ts";

/** Access modes, as CSI drivers and their volumes are asked for them. Pure. */

/** The access mode of a granted CSI volume, by its name in Kubernetes. */
export type AccessMode = GrantedCSIVolume["accessMode"];

/**
 * The one mode that a volume is used with: the widest that its PersistentVolume has, but ReadOnlyMany only for who
 * reads. kubelet takes the first of the list, whatever it is.
 */
export function accessModeOf(modes: readonly AccessMode[], readOnly: boolean): AccessMode {
  if (modes.includes("ReadWriteMany")) return "ReadWriteMany";
  if (modes.includes("ReadOnlyMany") && (readOnly || modes.length === 1)) return "ReadOnlyMany";
  return modes.find((mode) => mode !== "ReadOnlyMany") ?? "ReadWriteOnce";
}

/** Whether only one node may have the volume at a time. */
export function isSingleNode(mode: AccessMode): boolean {
  return mode === "ReadWriteOnce" || mode === "ReadWriteOncePod";
}
