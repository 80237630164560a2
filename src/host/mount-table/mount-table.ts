import { IndexedMounts, type MountIndexKey } from "./indexed-mounts.ts";
import type { MountIdentity } from "./mount-identity.ts";
import { isBeneath, joinPath, pathsTowards, relativePath } from "./mount-paths.ts";
import { type MountEntry, sameEntry } from "./mountinfo.ts";

export { type MountIdentity, mountIdentity, sameFilesystem, sameIdentity } from "./mount-identity.ts";
export { isBeneath, joinPath, relativePath } from "./mount-paths.ts";

/** How a table came from an earlier one. */
interface Origin {
  readonly history: MountHistory;
  readonly version: number;
  /** The indexed mounts of an earlier table, those of them that went or changed since, and what came. */
  readonly base: IndexedMounts;
  readonly hidden: ReadonlySet<MountEntry>;
  readonly added: IndexedMounts;
}

/**
 * PURE. The mounts of one mount namespace at one moment, indexed. Immutable; a table that was made from an earlier one
 * shares its indexes, so that a change costs the same however many mounts there are.
 * Path lookup follows the kernel's: the topmost mount wins, and a mount beneath a directory that was mounted over later
 * is in the table but not reachable.
 */
export class MountTable {
  readonly #origin: Origin;
  #entries: readonly MountEntry[] | undefined;
  /** What lookups have crossed, by path: each look at a volume asks for the same few several times. */
  readonly #crossed = new Map<string, readonly MountEntry[]>();

  /** @param entries in the kernel's order, which is that of their age */
  constructor(entries: readonly MountEntry[] | undefined, origin?: Origin) {
    this.#entries = entries;
    const plain = { base: new IndexedMounts(entries ?? []), hidden: new Set<MountEntry>(), added: nothing };
    this.#origin = origin ?? { history: new MountHistory(), version: 0, ...plain };
  }

  /** Every mount, oldest first. Takes a time that grows with their number. */
  get entries(): readonly MountEntry[] {
    this.#entries ??= merged(this.#origin);
    return this.#entries;
  }

  get size(): number {
    const { base, hidden, added } = this.#origin;
    return base.entries.length - hidden.size + added.entries.length;
  }

  /**
   * Entries that were added, removed (as they were) or changed (as they were, and as they are) since an earlier table
   * of the same source; possibly some that went again in between. Undefined if that is not known: anything may have
   * changed.
   */
  changesSince(earlier: MountTable): readonly MountEntry[] | undefined {
    if (earlier === this) return [];
    const { history, version } = this.#origin;
    return earlier.#origin.history === history ? history.between(earlier.#origin.version, version) : undefined;
  }

  /**
   * The table after some mounts have come, changed or gone (undefined), by id. This very table if nothing differs.
   * Entries must have their `uniqueID`: it says which place in the order a new one has.
   */
  updated(changes: ReadonlyMap<number, MountEntry | undefined>): MountTable {
    const steps = [...changes].flatMap(([id, after]) => {
      const before = this.byID(id);
      const same = before === undefined ? after === undefined : after !== undefined && sameEntry(before, after);
      return same ? [] : [{ before, after }];
    });
    return this.#stepped(steps, undefined);
  }

  /** The table with exactly these mounts, in this order, sharing what it can. This very table if nothing differs. */
  replaced(entries: readonly MountEntry[]): MountTable {
    const old = this.entries;
    const [start, end] = differing(old, entries);
    const gone = new Map(old.slice(start, old.length - end).map((mount) => [mount.id, mount]));
    const steps: Step[] = [];
    const kept = entries.slice(start, entries.length - end).map((after) => {
      const before = gone.get(after.id);
      gone.delete(after.id);
      if (before !== undefined && sameEntry(before, after)) return before;
      steps.push({ before, after });
      return after;
    });
    for (const before of gone.values()) steps.push({ before, after: undefined });
    if (steps.length === 0 && kept.every((entry, at) => entry === old[start + at])) return this;
    return this.#stepped(steps, entries.slice(0, start).concat(kept, entries.slice(entries.length - end)));
  }

  /** Every mount whose mount point is `path`, oldest first, reachable or not. */
  layers(path: string): readonly MountEntry[] {
    return this.#find("point", path);
  }

  byID(id: number): MountEntry | undefined {
    return this.#find("id", id).at(-1);
  }

  /** Mounts of the file system with this `major:minor`. */
  ofDevice(device: string): readonly MountEntry[] {
    return this.#find("device", device);
  }

  /** The mount that a lookup of `path` ends in: the topmost one at `path` or at its nearest mounted ancestor. */
  covering(path: string): MountEntry | undefined {
    return this.crossed(path).at(-1);
  }

  /** Every mount that a lookup of `path` crosses, from the root mount on. */
  crossed(path: string): readonly MountEntry[] {
    const known = this.#crossed.get(path);
    if (known !== undefined) return known;
    const crossed: MountEntry[] = [];
    for (let mount = this.#rootMount(); mount !== undefined; mount = this.#nearest(mount, path)) crossed.push(mount);
    this.#crossed.set(path, crossed);
    return crossed;
  }

  /** The topmost mount whose mount point is `path`, if a lookup of `path` reaches it. */
  at(path: string): MountEntry | undefined {
    if (this.layers(path).length === 0) return undefined;
    const mount = this.covering(path);
    return mount?.point === path ? mount : undefined;
  }

  /** Mounts whose parent is the mount with this id. */
  childrenOf(id: number): readonly MountEntry[] {
    return this.#find("parent", id);
  }

  /** Mounts that are members of a peer group. Its number is the same in every mount namespace. */
  peers(group: number): readonly MountEntry[] {
    return this.#find("peerGroup", group);
  }

  /** Mounts that receive propagation from a peer group. */
  slaves(group: number): readonly MountEntry[] {
    return this.#find("master", group);
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

  /** The oldest mount on / that is on no other mount of the table. */
  #rootMount(): MountEntry | undefined {
    return this.layers("/").find(({ id, parent }) => parent === id || this.byID(parent) === undefined);
  }

  /**
   * The child of a mount that a walk towards `path` crosses into first. The nearest to the root is met first; of two
   * on one point none can be a child of the same parent but by propagation, then the later one is on top.
   */
  #nearest({ id, point }: MountEntry, path: string): MountEntry | undefined {
    for (const on of pathsTowards(point, path)) {
      const child = this.layers(on).findLast((mount) => mount.parent === id && mount.id !== id);
      if (child !== undefined) return child;
    }
    return undefined;
  }

  #find(key: MountIndexKey, value: string | number): readonly MountEntry[] {
    const { base, hidden, added } = this.#origin;
    const old = base.get(key, value);
    const more = added.get(key, value);
    const kept = hidden.size > 0 && old.some((mount) => hidden.has(mount)) ? old.filter((m) => !hidden.has(m)) : old;
    if (more.length === 0) return kept;
    return kept.length === 0 && more.length === 1 ? more : [...kept, ...more].sort(this.#byAge);
  }

  readonly #byAge = (a: MountEntry, b: MountEntry): number =>
    a.uniqueID !== undefined && b.uniqueID !== undefined
      ? a.uniqueID - b.uniqueID
      : this.entries.indexOf(a) - this.entries.indexOf(b);

  #stepped(steps: readonly Step[], entries: readonly MountEntry[] | undefined): MountTable {
    if (steps.length === 0 && entries === undefined) return this;
    const origin = this.#origin;
    const before = new Set(steps.flatMap((step) => step.before ?? []));
    const after = steps.flatMap((step) => step.after ?? []);
    const added = [...origin.added.entries.filter((mount) => !before.has(mount)), ...after];
    const hidden = new Set(origin.hidden);
    for (const mount of before) if (!origin.added.entries.includes(mount)) hidden.add(mount);
    // Of two tables that were made from one, only the first goes on with its history.
    const history = origin.version === origin.history.latest ? origin.history : new MountHistory();
    const version = history.add([...before, ...after]);
    const next = { history, version, base: origin.base, hidden, added: new IndexedMounts(added) };
    const { length } = origin.base.entries;
    if (added.length + hidden.size <= Math.max(fewest, 2 * Math.sqrt(length))) return new MountTable(entries, next);
    const all = entries ?? merged(next);
    return new MountTable(all, { history, version, base: new IndexedMounts(all), hidden: new Set(), added: nothing });
  }
}

interface Step {
  readonly before: MountEntry | undefined;
  readonly after: MountEntry | undefined;
}

/** How many mounts at the beginning, and of the rest at the end, are the very same in two lists. */
function differing(old: readonly MountEntry[], now: readonly MountEntry[]): readonly [number, number] {
  const shorter = Math.min(old.length, now.length);
  let start = 0;
  while (start < shorter && old[start] === now[start]) start++;
  let end = 0;
  while (end < shorter - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end++;
  return [start, end];
}

/** Changes that are kept beside the indexes before these are made anew, however few mounts there are. */
const fewest = 64;
const nothing = new IndexedMounts([]);

/** The mounts of a table in their order. */
function merged({ base, hidden, added }: Origin): readonly MountEntry[] {
  const all = base.entries.filter((mount) => !hidden.has(mount)).concat(added.entries);
  return all.sort((a, b) => (a.uniqueID ?? 0) - (b.uniqueID ?? 0)); // stable, and nearly sorted already
}

/** Entries that are remembered. Whoever was last here before that has to look at everything. */
const entryLimit = 8_192;
const stepLimit = 1_024;

/** PURE. What changed from each version of a mount table to the next, as far back as is remembered. */
class MountHistory {
  #steps: (readonly MountEntry[])[] = [];
  #entries = 0;
  /** Version that the first remembered step begins at. */
  #from = 0;

  get latest(): number {
    return this.#from + this.#steps.length;
  }

  /** @returns the version that these changes lead to from the latest one */
  add(changed: readonly MountEntry[]): number {
    this.#steps.push(changed);
    this.#entries += changed.length;
    while (this.#steps.length > 1 && (this.#entries > entryLimit || this.#steps.length > stepLimit)) {
      this.#entries -= this.#steps.shift()?.length ?? 0;
      this.#from += 1;
    }
    return this.latest;
  }

  /** @returns undefined if that is not remembered */
  between(earlier: number, later: number): readonly MountEntry[] | undefined {
    if (earlier < this.#from || later < earlier) return undefined;
    return this.#steps.slice(earlier - this.#from, later - this.#from).flat();
  }
}
