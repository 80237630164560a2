import type { GrantedCSIVolume } from "../../api/types.gen.ts";
import type { CSIDriver } from "../model/storage-objects.ts";
import type { AccessMode } from "../model/storage-types.ts";

/** What the CSIDriver object says of who a volume's files belong to, and of their label. Pure. */

/** The part of a volume that this depends on. */
export interface OwnedVolume {
  /** Those of the PersistentVolume, all of them. */
  readonly accessModes: readonly AccessMode[];
  readonly fsType?: string;
  readonly readOnly?: boolean;
}

/** What the grant tells the agent of it; without the object the default of its fields holds. */
export function ownershipOf(
  driver: Pick<CSIDriver, "fsGroupPolicy" | "seLinuxMount"> | undefined,
  volume: OwnedVolume,
): Pick<GrantedCSIVolume, "supportsFSGroup" | "seLinuxMount"> {
  return {
    // False, too: a grant without it is of a controller that knew nothing of it.
    supportsFSGroup: supportsFSGroup(driver?.fsGroupPolicy ?? "ReadWriteOnceWithFSType", volume),
    ...(driver?.seLinuxMount === true && isForOnePod(volume) && { seLinuxMount: true }),
  };
}

/** Whether the files may be given to a group (behaviour 107, kubelet: csi_mounter.go, supportsFSGroup). */
function supportsFSGroup(policy: CSIDriver["fsGroupPolicy"], { accessModes, fsType, readOnly }: OwnedVolume): boolean {
  if (policy === "None" || readOnly === true) return false;
  if (policy === "File") return true;
  const writesOnOneNode = accessModes.includes("ReadWriteOnce") || accessModes.includes("ReadWriteOncePod");
  return fsType !== undefined && fsType !== "" && writesOnOneNode;
}

/** As long as the gate SELinuxMount is off (behaviour 77, kubelet: selinux.go, VolumeSupportsSELinuxMount). */
function isForOnePod({ accessModes }: OwnedVolume): boolean {
  return accessModes.length === 1 && accessModes[0] === "ReadWriteOncePod";
}
