import { hash } from "node:crypto";
import type { VolumeID } from "../model/volume-key.ts";

/**
 * The name of our VolumeAttachment: of the volume and the node alone, so that a controller that was killed after it had
 * made one finds it again, and another than kube-controller-manager's, which deletes by its own name what its pods do
 * not need (safety rule 11). The separators are in neither a driver's nor a node's name.
 */
export function attachmentName({ driver, volumeHandle }: VolumeID, node: string): string {
  return `nvi-${hash("sha256", `${driver}^${node}^${volumeHandle}`, "hex")}`;
}

/** Whether a VolumeAttachment is one of ours, by its name. */
export function isOwnAttachment(name: string): boolean {
  return /^nvi-[0-9a-f]{64}$/.test(name);
}
