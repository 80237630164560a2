import { ancestorsOf } from "../api/path.ts";
import { isBeneath } from "../host/mount-table.ts";
import type { MountEntry } from "../host/mountinfo.ts";

/** What one volume's plan was made from in the mount tables. */
export interface Interest {
  /** Paths that were looked up: a mount on one of them, or on a directory above, changes what is there. */
  readonly points: readonly string[];
  /** Mount ids that were looked for, wherever they are. */
  readonly ids: readonly number[];
  /** Peer groups that were looked for in the node's table. */
  readonly groups: readonly number[];
}

/** Which volumes a change of the mount tables may matter to. */
export class Interests {
  readonly #ofVolume = new Map<string, Interest>();
  readonly #byPoint = new Map<string, Set<string>>();
  readonly #byID = new Map<number, Set<string>>();
  readonly #byGroup = new Map<number, Set<string>>();
  /** How many points lie beneath a directory. */
  readonly #above = new Map<string, number>();

  /** What one volume depends on from now on; undefined: it is gone. */
  set(volume: string, interest: Interest | undefined): void {
    const before = this.#ofVolume.get(volume);
    if (before !== undefined && interest !== undefined && isSame(before, interest)) return;
    if (before !== undefined) this.#remove(volume, before);
    if (interest === undefined) this.#ofVolume.delete(volume);
    else this.#add(volume, interest);
  }

  /** Volumes to which it matters that this mount of the agent's table came, went or changed. */
  *of({ point, id }: MountEntry): Generator<string> {
    yield* this.#byPoint.get(point) ?? [];
    yield* this.#byID.get(id) ?? [];
    if (point !== "/" && !this.#above.has(point)) return;
    for (const [path, volumes] of this.#byPoint) if (isBeneath(path, point)) yield* volumes;
  }

  /** The same for a mount of the node's table. */
  *onNode({ shared }: MountEntry): Generator<string> {
    if (shared !== undefined) yield* this.#byGroup.get(shared) ?? [];
  }

  #add(volume: string, interest: Interest): void {
    this.#ofVolume.set(volume, interest);
    for (const point of interest.points) {
      add(this.#byPoint, point, volume);
      for (const above of ancestorsOf(point)) this.#above.set(above, (this.#above.get(above) ?? 0) + 1);
    }
    for (const id of interest.ids) add(this.#byID, id, volume);
    for (const group of interest.groups) add(this.#byGroup, group, volume);
  }

  #remove(volume: string, interest: Interest): void {
    for (const point of interest.points) {
      remove(this.#byPoint, point, volume);
      for (const above of ancestorsOf(point)) {
        const left = (this.#above.get(above) ?? 0) - 1;
        if (left > 0) this.#above.set(above, left);
        else this.#above.delete(above);
      }
    }
    for (const id of interest.ids) remove(this.#byID, id, volume);
    for (const group of interest.groups) remove(this.#byGroup, group, volume);
  }
}

function isSame(a: Interest, b: Interest): boolean {
  return isEqual(a.points, b.points) && isEqual(a.ids, b.ids) && isEqual(a.groups, b.groups);
}

function isEqual<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((value, i) => value === b[i]);
}

function add<K>(map: Map<K, Set<string>>, key: K, volume: string): void {
  const volumes = map.get(key);
  if (volumes === undefined) map.set(key, new Set([volume]));
  else volumes.add(volume);
}

function remove<K>(map: Map<K, Set<string>>, key: K, volume: string): void {
  const volumes = map.get(key);
  volumes?.delete(volume);
  if (volumes?.size === 0) map.delete(key);
}
