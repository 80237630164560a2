import { type Dentry, relativeTo } from "./dentry.ts";
import { Errno } from "./errno.ts";
import type { Mount, Namespace, Path } from "./mount.ts";

/**
 * How a walk treats symbolic links: all are followed, none may be there (openat2's NO_SYMLINKS), or the last one stays.
 */
export type Links = "follow" | "refuse" | "keepLast";

const mostLinks = 40;

/**
 * Walks a path as the kernel does, across every mount on the way, and ends on the topmost one.
 * @param root where the walk begins, and what an absolute link and `..` stay within
 * @returns undefined if something on the way is not there
 * @throws Errno ENOTDIR, ELOOP
 */
export function walk(root: Path, path: string, links: Links): Path | undefined {
  let above: Path[] = [topOf(root)];
  const left = path.split("/").filter((segment) => segment !== "" && segment !== ".");
  let followed = 0;
  for (let segment = left.shift(); segment !== undefined; segment = left.shift()) {
    const at = above.at(-1) ?? root;
    if (segment === "..") {
      if (above.length > 1) above.pop();
      continue;
    }
    if (at.dentry.kind !== "directory") throw new Errno("ENOTDIR", path);
    const child = at.dentry.children.get(segment);
    if (child === undefined) return undefined;
    if (child.kind === "symlink" && !(links === "keepLast" && left.length === 0)) {
      if (links === "refuse" || ++followed > mostLinks) throw new Errno("ELOOP", path);
      if (child.content.startsWith("/")) above = above.slice(0, 1);
      left.unshift(...child.content.split("/").filter((part) => part !== "" && part !== "."));
      continue;
    }
    above.push(topOf({ mount: at.mount, dentry: child }));
  }
  return above.at(-1);
}

/** The root directory of a namespace. */
export function rootOf(namespace: Namespace): Path {
  if (namespace.root === undefined) throw new Errno("ENOENT", `namespace ${namespace.name}`);
  return { mount: namespace.root, dentry: namespace.root.root };
}

/** What is to be seen at a place: the root of the topmost mount there, or the place itself. */
export function topOf(path: Path): Path {
  let { mount, dentry } = path;
  for (let child = mount.children.get(dentry); child !== undefined; child = mount.children.get(dentry)) {
    mount = child;
    dentry = child.root;
  }
  return { mount, dentry };
}

/** The path of a place from the root of its namespace; undefined if it cannot be reached by one. */
export function pathOf({ mount, dentry }: Path): string | undefined {
  const inside = relativeTo(mount.root, dentry);
  const base = pointOf(mount);
  if (inside === undefined || base === undefined) return undefined;
  if (inside === "") return base;
  return base === "/" ? `/${inside}` : `${base}/${inside}`;
}

/** Where a mount is mounted, as the fifth field of mountinfo has it. */
export function pointOf(mount: Mount): string | undefined {
  if (mount.parent === undefined || mount.point === undefined) return "/";
  return pathOf({ mount: mount.parent, dentry: mount.point });
}

/** The path of an open file, as /proc/PID/fd has it. */
export function openPath(path: Path): string | undefined {
  const found = pathOf(path);
  return found !== undefined && path.dentry.unlinked ? `${found} (deleted)` : found;
}

/** The file at a path of a namespace, links followed. @throws Errno ENOENT */
export function fileAt(namespace: Namespace, path: string): Dentry {
  return existing(namespace, path).dentry;
}

/** @throws Errno ENOENT */
export function existing(namespace: Namespace, path: string): Path {
  const found = walk(rootOf(namespace), path, "follow");
  if (found === undefined) throw new Errno("ENOENT", path);
  return found;
}
