import type { Dentry } from "./dentry.ts";
import { Errno } from "./errno.ts";
import type { Mount, Path } from "./mount.ts";

/** A mount and everything on it, what is on others after them. */
export function subtree(mount: Mount): Mount[] {
  return [mount, ...[...mount.children.values()].flatMap(subtree)];
}

export function placeOf(mount: Mount): Path {
  if (mount.parent === undefined || mount.point === undefined) throw new Errno("EINVAL", "umount2");
  return { mount: mount.parent, dentry: mount.point };
}

export function isDirectory(dentry: Dentry): boolean {
  return dentry.kind === "directory";
}

/** The last of the mounts that cover each other completely, beginning with this one. */
export function topmost(mount: Mount): Mount {
  const above = mount.children.get(mount.root);
  return above === undefined ? mount : topmost(above);
}

/** Whether all that is on a mount is one mount on its root. */
export function isTopped(mount: Mount): boolean {
  return mount.children.size === 1 && mount.children.has(mount.root);
}

/** How many mounts lie beneath it. */
export function depthOf({ parent }: Mount): number {
  return parent === undefined ? 0 : 1 + depthOf(parent);
}
