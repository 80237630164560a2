import type { MountEntry } from "../../../src/host/mount-table/mountinfo.ts";
import { optionsOf } from "../../lib/builders/mount-entries.ts";
import { pointOf } from "./lookup.ts";
import type { Mount, Namespace } from "./mount.ts";

/** What /proc/PID/mountinfo and statmount(2) show to a process of the namespace, oldest mount first. */
export function mountinfo(namespace: Namespace): MountEntry[] {
  const mounts = [...namespace.mounts].sort((a, b) => a.uniqueID - b.uniqueID);
  return mounts.flatMap((mount) => entryOf(mount) ?? []);
}

/** @returns undefined if no path of the namespace leads there: such mounts are not listed */
function entryOf(mount: Mount): MountEntry | undefined {
  const point = pointOf(mount);
  if (point === undefined) return undefined;
  const { superblock, group, master } = mount;
  return {
    id: mount.id,
    uniqueID: mount.uniqueID,
    parent: mount.parent?.id ?? mount.id,
    device: superblock.device,
    root: mount.root.path,
    point,
    options: optionsOf(mount.attributes),
    ...(group !== undefined && { shared: group }),
    ...(master !== undefined && { master }),
    fsType: superblock.fsType,
    source: superblock.source,
    superOptions: [superblock.readOnly ? "ro" : "rw", ...superblock.options],
  };
}
