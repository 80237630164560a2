import type { MountEntry } from "./mountinfo.ts";

/** What a mount shows: a directory or file `root` of the file system on `device`. Two binds of one thing are equal. */
export interface MountIdentity {
  readonly device: string;
  readonly root: string;
  /**
   * Of a file system without a device: its source, which all its mounts share. The number alone would not do: it is free
   * with the last unmount, and the next file system gets it.
   */
  readonly source?: string;
}

/**
 * The mounts of one mount namespace at one moment, indexed. Immutable.
 * Path lookup follows the kernel's: the topmost mount wins, and a mount beneath a directory that was mounted over later
 * is in the table but not reachable.
 */
export class MountTable {
  readonly entries: readonly MountEntry[];
  readonly #byPoint = new Map<string, MountEntry[]>();
  readonly #children = new Map<number, MountEntry[]>();
  readonly #byPeerGroup = new Map<number, MountEntry[]>();
  readonly #rootMount: MountEntry | undefined;

  constructor(entries: readonly MountEntry[]) {
    this.entries = entries;
    const ids = new Set(entries.map((entry) => entry.id));
    for (const entry of entries) {
      push(this.#byPoint, entry.point, entry);
      if (entry.shared !== undefined) push(this.#byPeerGroup, entry.shared, entry);
      if (entry.parent !== entry.id && ids.has(entry.parent)) push(this.#children, entry.parent, entry);
      else if (entry.point === "/") this.#rootMount ??= entry;
    }
  }

  /** Every mount whose mount point is `path`, oldest first, reachable or not. */
  layers(path: string): readonly MountEntry[] {
    return this.#byPoint.get(path) ?? [];
  }

  /** The mount that a lookup of `path` ends in: the topmost one at `path` or at its nearest mounted ancestor. */
  covering(path: string): MountEntry | undefined {
    return this.crossed(path).at(-1);
  }

  /** Every mount that a lookup of `path` crosses, from the root mount on. */
  crossed(path: string): MountEntry[] {
    const crossed: MountEntry[] = [];
    for (let mount = this.#rootMount; mount !== undefined; mount = this.#nearest(mount.id, mount.point, path)) {
      crossed.push(mount);
    }
    return crossed;
  }

  /** The topmost mount whose mount point is `path`, if a lookup of `path` reaches it. */
  at(path: string): MountEntry | undefined {
    const mount = this.covering(path);
    return mount?.point === path ? mount : undefined;
  }

  /** Mounts whose parent is the mount with this id. */
  childrenOf(id: number): readonly MountEntry[] {
    return this.#children.get(id) ?? [];
  }

  /** Mounts that are members of a peer group. Its number is the same in every mount namespace. */
  peers(group: number): readonly MountEntry[] {
    return this.#byPeerGroup.get(group) ?? [];
  }

  /** Mount points at or beneath `path`, reachable or not. */
  beneath(path: string): MountEntry[] {
    return this.entries.filter((entry) => isBeneath(entry.point, path));
  }

  /** What a bind of `path` would show, if every component of `path` is a plain directory. */
  identityOf(path: string): MountIdentity | undefined {
    const mount = this.covering(path);
    if (mount === undefined) return undefined;
    return { device: mount.device, root: joinPath(mount.root, relativePath(mount.point, path)) };
  }

  /**
   * The child of a mount that a walk towards `path` crosses into first. The nearest to the root is met first; of two
   * on one point none can be a child of the same parent but by propagation, then the later one is on top.
   */
  #nearest(parent: number, from: string, path: string): MountEntry | undefined {
    let best: MountEntry | undefined;
    for (const child of this.#children.get(parent) ?? []) {
      if (!isBeneath(path, child.point) || !isBeneath(child.point, from)) continue;
      if (best === undefined || child.point.length <= best.point.length) best = child;
    }
    return best;
  }
}

/** What a mount shows, or what is at a path beneath its root. */
export function identityOf(mount: MountEntry, beneath = ""): MountIdentity {
  const { device, source } = mount;
  return { device, root: joinPath(mount.root, beneath), ...(isNumbered(device) && { source }) };
}

/** Whether two mounts show the same. */
export function sameIdentity(a: MountIdentity, b: MountIdentity): boolean {
  return sameFilesystem(a, b) && a.root === b.root;
}

/** Whether two mounts are of one file system. */
export function sameFilesystem(a: Omit<MountIdentity, "root">, b: Omit<MountIdentity, "root">): boolean {
  if (a.device !== b.device) return false;
  return !isNumbered(a.device) || a.source === undefined || b.source === undefined || a.source === b.source;
}

/** Whether a file system has no device, but a number that the kernel made up for it: tmpfs, NFS, overlay. */
function isNumbered(device: string): boolean {
  return device.startsWith("0:");
}

/** Whether `path` is `ancestor` or lies beneath it. Both are clean absolute paths. */
export function isBeneath(path: string, ancestor: string): boolean {
  return ancestor === "/" || path === ancestor || path.startsWith(`${ancestor}/`);
}

/** `path` seen from `ancestor`, without a leading slash; "" if they are the same. */
export function relativePath(ancestor: string, path: string): string {
  return ancestor === "/" ? path.slice(1) : path.slice(ancestor.length + 1);
}

/** `relative` beneath `base`. */
export function joinPath(base: string, relative: string): string {
  if (relative === "") return base;
  return base === "/" ? `/${relative}` : `${base}/${relative}`;
}

function push<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}
