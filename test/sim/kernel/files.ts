import { Dentry, type DentryKind } from "./dentry.ts";
import { Errno } from "./errno.ts";
import type { Kernel } from "./kernel.ts";
import { existing, rootOf, walk } from "./lookup.ts";
import type { Namespace, Path } from "./mount.ts";

/** Makes a file in a directory; what is there already stays and is returned. */
export function makeIn(kernel: Kernel, parent: Dentry, name: string, kind: DentryKind, mode: number): Dentry {
  const present = parent.children.get(name);
  if (present !== undefined) return present;
  const made = new Dentry(parent.superblock, kind, kernel.actor, mode, name);
  parent.add(made);
  return made;
}

/** Makes a directory and all that is missing above it. */
export function makeDirectories(kernel: Kernel, namespace: Namespace, path: string, mode = 0o755): Path {
  let at = existing(namespace, "/");
  let so_far = "";
  for (const segment of path.split("/").filter((part) => part !== "")) {
    makeIn(kernel, at.dentry, segment, "directory", mode);
    so_far = `${so_far}/${segment}`;
    at = existing(namespace, so_far);
  }
  return at;
}

/** Takes a name away, as rmdir(2) and unlink(2). @throws Errno EBUSY, ENOTEMPTY */
export function remove(kernel: Kernel, namespace: Namespace, dentry: Dentry): void {
  if (dentry.children.size > 0) throw new Errno("ENOTEMPTY", "rmdir");
  if (isMountPointIn(dentry, namespace)) throw new Errno("EBUSY", "rmdir");
  kernel.listener.removed(dentry, kernel.actor);
  kernel.tree.detachFrom(dentry); // in other namespaces, where it may be one
  dentry.unlink();
  kernel.version++;
}

/** Moves a name, within one file system, over what has the new name. @throws Errno EBUSY, ENOTEMPTY, EXDEV */
export function rename(kernel: Kernel, namespace: Namespace, from: Dentry, to: { parent: Dentry; name: string }): void {
  if (from.superblock !== to.parent.superblock) throw new Errno("EXDEV", "rename");
  if (isMountPointIn(from, namespace)) throw new Errno("EBUSY", "rename");
  const replaced = to.parent.children.get(to.name);
  if (replaced !== undefined) remove(kernel, namespace, replaced);
  from.parent?.children.delete(from.name);
  from.name = to.name;
  to.parent.add(from);
  kernel.version++;
}

/** Splits a path into the directory, which must be there, and the last name. */
export function parentAndName(namespace: Namespace, path: string): { parent: Dentry; name: string } {
  const cut = path.lastIndexOf("/");
  const { dentry } = existing(namespace, path.slice(0, cut) || "/");
  return { parent: dentry, name: path.slice(cut + 1) };
}

export function exists(namespace: Namespace, path: string): boolean {
  return walk(rootOf(namespace), path, "follow") !== undefined;
}

/** Only mounts of the caller's own namespace keep a directory from being removed or renamed. */
function isMountPointIn(dentry: Dentry, namespace: Namespace): boolean {
  return [...dentry.mountedOn].some((mount) => mount.namespace === namespace);
}
