import { quoted } from "../../api/values/printable.ts";
import { type MountTable, sameIdentity } from "../../host/mount-table/mount-table.ts";
import { type MountEntry, sameMount } from "../../host/mount-table/mountinfo.ts";
import type { Problem } from "../model/actual-volume.ts";
import type { TargetRecord, VolumeRecord } from "../model/volume-record.ts";

/**
 * PURE. Our mount of a target where it is now, if a directory above it was renamed: the mount goes along, and its path
 * in the table with it. Known by its id, its peer group and by what it shows, all three: a peer group has whatever
 * others have bound of it, an id is used again, and in the namespace of another run of the agent it is that of another
 * mount.
 */
export function movedMount(table: MountTable, target: TargetRecord, volume: VolumeRecord): MountEntry | undefined {
  const entry = target.mountID === undefined ? undefined : table.byID(target.mountID);
  if (entry === undefined || entry.shared !== target.peerGroup) return undefined;
  if (!sameMount(entry, { id: target.mountID, uniqueID: target.uniqueID })) return undefined;
  const isTarget = volume.targets.some(({ path }) => path === entry.point);
  return !isTarget && sameIdentity(entry, target.identity) ? entry : undefined;
}

/** PURE. The problem of a target whose parent directory was renamed, so that our mount is at another path now. */
export function targetMoved(path: string, { point }: MountEntry): Problem {
  return {
    reason: "TargetMoved",
    message: `the mount on ${path} is now at ${quoted(point)}: a directory above it was renamed. Rename it back`,
    on: { kind: "Mount", name: point },
  };
}
