import type { ActualTarget, ActualVolume, Problem } from "../model/actual-volume.ts";
import { ownedOf } from "../ownership/fsgroup-policy.ts";

/**
 * PURE. Of a mount whose files could not be given to its group: as kubelet, the agent mounts it all the same, and it is
 * ready. An NFS server that squashes root refuses every file, for instance.
 */
export function refusedGroup({ desired, record, truth }: ActualTarget): Problem | undefined {
  const { fsGroup, refusedGroup: refused } = record === undefined ? {} : ownedOf(record);
  if (refused === undefined || fsGroup === undefined || truth !== "mounted" || desired?.fsGroup !== fsGroup) {
    return undefined;
  }
  const { failed, entries, example } = refused;
  const message = `${failed} of ${entries} files of ${record?.path} could not be given to group ${fsGroup}, such as ${example}`;
  return { reason: "VolumePermissionChangeRefused", message };
}

/** PURE. The part that has not been reported yet. */
export function newRefusals(before: ActualVolume, after: ActualVolume): Problem[] {
  const known = new Set(before.targets.map((target) => refusedGroup(target)?.message));
  return after.targets.flatMap((target) => refusedGroup(target) ?? []).filter(({ message }) => !known.has(message));
}
