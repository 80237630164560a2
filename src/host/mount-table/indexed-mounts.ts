import type { MountEntry } from "./mountinfo.ts";

/** What mounts are looked up by. */
const keys = {
  id: (mount: MountEntry) => mount.id,
  point: (mount: MountEntry) => mount.point,
  parent: (mount: MountEntry) => (mount.parent === mount.id ? undefined : mount.parent),
  peerGroup: (mount: MountEntry) => mount.shared,
  master: (mount: MountEntry) => mount.master,
  device: (mount: MountEntry) => mount.device,
} as const;

/** A property of mounts that a table can be searched by. */
export type MountIndexKey = keyof typeof keys;

const none: readonly MountEntry[] = [];

/** PURE. Mounts with an index for each key, which is made when it is first asked for. */
export class IndexedMounts {
  readonly entries: readonly MountEntry[];
  readonly #indexes = new Map<MountIndexKey, Map<string | number, MountEntry[]>>();

  constructor(entries: readonly MountEntry[]) {
    this.entries = entries;
  }

  /** Mounts with this value, in the order of `entries`. */
  get(key: MountIndexKey, value: string | number): readonly MountEntry[] {
    if (this.entries.length === 0) return none;
    return this.#index(key).get(value) ?? none;
  }

  #index(key: MountIndexKey): Map<string | number, MountEntry[]> {
    const known = this.#indexes.get(key);
    if (known !== undefined) return known;
    const index = new Map<string | number, MountEntry[]>();
    const keyOf = keys[key];
    for (const mount of this.entries) {
      const value = keyOf(mount);
      if (value === undefined) continue;
      const list = index.get(value);
      if (list === undefined) index.set(value, [mount]);
      else list.push(mount);
    }
    this.#indexes.set(key, index);
    return index;
  }
}
