import { Dentry, type DentryKind, relativeTo } from "./dentry.ts";
import { Errno } from "./errno.ts";
import type { Kernel } from "./kernel.ts";
import { existing, rootOf, walk } from "./lookup.ts";
import type { Mount, Namespace, Path } from "./mount.ts";

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
    makeAt(kernel, at, segment, "directory", mode);
    so_far = `${so_far}/${segment}`;
    at = existing(namespace, so_far);
  }
  return at;
}

/** As makeIn, by way of a mount. @throws Errno EROFS */
export function makeAt(kernel: Kernel, parent: Path, name: string, kind: DentryKind, mode: number): Dentry {
  const present = parent.dentry.children.get(name);
  if (present !== undefined) return present;
  requireWritable(parent.mount);
  return makeIn(kernel, parent.dentry, name, kind, mode);
}

/** @throws Errno EROFS */
export function requireWritable(mount: Mount): void {
  if (mount.attributes.readOnly || mount.superblock.readOnly) throw new Errno("EROFS", "write");
}

/** rmdir(2) and unlink(2). @throws Errno EROFS, ENOENT, ENOTDIR, EISDIR, EBUSY, ENOTEMPTY */
export function removeAt(
  kernel: Kernel,
  namespace: Namespace,
  parent: Path,
  name: string,
  what: "directory" | "file",
): void {
  requireWritable(parent.mount);
  const victim = parent.dentry.children.get(name);
  if (victim === undefined) throw new Errno("ENOENT", "unlinkat");
  if (what === "directory" && victim.kind !== "directory") throw new Errno("ENOTDIR", "unlinkat");
  if (what === "file" && victim.kind === "directory") throw new Errno("EISDIR", "unlinkat");
  remove(kernel, namespace, victim);
}

/** Takes a name away, whatever it stands for. @throws Errno EBUSY, ENOTEMPTY */
export function remove(kernel: Kernel, namespace: Namespace, dentry: Dentry): void {
  if (isMountPointIn(dentry, namespace)) throw new Errno("EBUSY", "unlinkat");
  if (dentry.children.size > 0) throw new Errno("ENOTEMPTY", "unlinkat");
  kernel.listener.removed(dentry, kernel.actor);
  kernel.tree.detachFrom(dentry); // in other namespaces, where it may be one
  dentry.unlink();
  kernel.version++;
}

/**
 * renameat(2): moves a name, within one mount, over what has the new name.
 * @throws Errno EXDEV, EROFS, ENOENT, EINVAL, ENOTDIR, EISDIR, EBUSY, ENOTEMPTY
 */
export function rename(
  kernel: Kernel,
  namespace: Namespace,
  from: { readonly parent: Path; readonly name: string },
  to: { readonly parent: Path; readonly name: string },
): void {
  if (from.parent.mount !== to.parent.mount) throw new Errno("EXDEV", "renameat");
  requireWritable(from.parent.mount);
  const moved = from.parent.dentry.children.get(from.name);
  if (moved === undefined) throw new Errno("ENOENT", "renameat");
  const replaced = to.parent.dentry.children.get(to.name);
  if (replaced === moved) return;
  if (relativeTo(moved, to.parent.dentry) !== undefined) throw new Errno("EINVAL", "renameat");
  if (replaced !== undefined) {
    if (relativeTo(replaced, from.parent.dentry) !== undefined) throw new Errno("ENOTEMPTY", "renameat");
    if (moved.kind === "directory" && replaced.kind !== "directory") throw new Errno("ENOTDIR", "renameat");
    if (moved.kind !== "directory" && replaced.kind === "directory") throw new Errno("EISDIR", "renameat");
  }
  if (isMountPointIn(moved, namespace)) throw new Errno("EBUSY", "renameat");
  if (replaced !== undefined) remove(kernel, namespace, replaced);
  moved.parent?.drop(moved);
  moved.name = to.name;
  to.parent.dentry.add(moved);
  kernel.version++;
}

/** Splits a path into the directory, which must be there, and the last name. @throws Errno ENOENT, ENOTDIR, ELOOP */
export function parentAndName(namespace: Namespace, path: string): { parent: Path; name: string } {
  const cut = path.lastIndexOf("/");
  const parent = existing(namespace, path.slice(0, cut) || "/");
  if (parent.dentry.kind !== "directory") throw new Errno("ENOTDIR", path);
  return { parent, name: path.slice(cut + 1) };
}

export function exists(namespace: Namespace, path: string): boolean {
  return walk(rootOf(namespace), path, "follow") !== undefined;
}

/** Only mounts of the caller's own namespace keep a directory from being removed or renamed. */
function isMountPointIn(dentry: Dentry, namespace: Namespace): boolean {
  return [...dentry.mountedOn].some((mount) => mount.namespace === namespace);
}
