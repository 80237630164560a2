import { type MountIdentity, type MountTable, sameIdentity } from "../../host/mount-table/mount-table.ts";
import type { MountEntry } from "../../host/mount-table/mountinfo.ts";
import type { Published } from "../model/volume-record.ts";

/** PURE. Whether the file system itself is read-only, not only a mount of it. */
export function isReadOnly({ superOptions }: Pick<MountEntry, "superOptions">): boolean {
  return superOptions.includes("ro");
}

/** PURE. What a publish path shows, if it is what the driver mounted there, and nothing over it. */
export function stillPublished(published: Published | undefined, table: MountTable): MountIdentity | undefined {
  const { path, identity } = published ?? {};
  if (path === undefined || identity === undefined || table.layers(path).length !== 1) return undefined;
  const mount = table.at(path);
  return mount !== undefined && sameIdentity(mount, identity) ? identity : undefined;
}

/** PURE. What the driver mounted on a publish path, if something lies over it. */
export function coveredMount(published: Published, table: MountTable): MountEntry | undefined {
  const [lowest, ...others] = table.layers(published.path);
  const { identity } = published;
  if (lowest === undefined || identity === undefined || others.length === 0) return undefined;
  return sameIdentity(lowest, identity) ? lowest : undefined;
}
