import type { MountEntry } from "../../../host/mount-table/mountinfo.ts";
import { PointIndex } from "./point-index.ts";

/** What one volume's plan was made from in the mount tables. */
export interface Interest {
  /** Paths that were looked up: a mount on one of them, or on a directory above, changes what is there. */
  readonly points: readonly string[];
  /** Mount ids that were looked for, wherever they are. */
  readonly ids: readonly number[];
  /** Peer groups that were looked for in the node's table. */
  readonly groups: readonly number[];
  /** Paths that were looked up in the node's table. */
  readonly onNode?: readonly string[];
}

/** Which volumes a change of the mount tables may matter to. */
export class Interests {
  readonly #ofVolume = new Map<string, Interest>();
  readonly #points = new PointIndex();
  readonly #onNode = new PointIndex();
  readonly #byID = new Map<number, Set<string>>();
  readonly #byGroup = new Map<number, Set<string>>();

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
    yield* this.#byID.get(id) ?? [];
    yield* this.#points.at(point);
  }

  /** The same for a mount of the node's table. */
  *onNode({ shared, point }: MountEntry): Generator<string> {
    yield* this.#onNode.at(point);
    if (shared !== undefined) yield* this.#byGroup.get(shared) ?? [];
  }

  #add(volume: string, interest: Interest): void {
    this.#ofVolume.set(volume, interest);
    for (const point of interest.points) this.#points.add(point, volume);
    for (const point of interest.onNode ?? []) this.#onNode.add(point, volume);
    for (const id of interest.ids) add(this.#byID, id, volume);
    for (const group of interest.groups) add(this.#byGroup, group, volume);
  }

  #remove(volume: string, interest: Interest): void {
    for (const point of interest.points) this.#points.remove(point, volume);
    for (const point of interest.onNode ?? []) this.#onNode.remove(point, volume);
    for (const id of interest.ids) remove(this.#byID, id, volume);
    for (const group of interest.groups) remove(this.#byGroup, group, volume);
  }
}

function isSame(a: Interest, b: Interest): boolean {
  const same = isEqual(a.points, b.points) && isEqual(a.ids, b.ids) && isEqual(a.groups, b.groups);
  return same && isEqual(a.onNode ?? [], b.onNode ?? []);
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
