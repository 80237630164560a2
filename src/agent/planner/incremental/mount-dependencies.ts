import { ancestorsOf } from "../../../api/values/path.ts";
import { isBeneath } from "../../../host/mount-table/mount-table.ts";
import type { MountEntry } from "../../../host/mount-table/mountinfo.ts";
import { isInvalid } from "../../model/desired.ts";
import type { VolumeName } from "../../model/identities.ts";
import { type PlanInput, stagingPath } from "../../model/plan-input.ts";
import type { VolumePlan } from "../../model/volume-plan.ts";

/** What one volume's plan was made from in the mount tables. */
export interface MountDependencies {
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
export class MountDependencyIndex {
  readonly #ofVolume = new Map<VolumeName, MountDependencies>();
  readonly #points = new PointIndex();
  readonly #onNode = new PointIndex();
  readonly #byID = new Map<number, Set<VolumeName>>();
  readonly #byGroup = new Map<number, Set<VolumeName>>();

  /** What one volume depends on from now on; undefined: it is gone. */
  set(volume: VolumeName, dependencies: MountDependencies | undefined): void {
    const before = this.#ofVolume.get(volume);
    if (before !== undefined && dependencies !== undefined && isSame(before, dependencies)) return;
    if (before !== undefined) this.#remove(volume, before);
    if (dependencies === undefined) this.#ofVolume.delete(volume);
    else this.#add(volume, dependencies);
  }

  /** Volumes to which it matters that this mount of the agent's table came, went or changed. */
  *of({ point, id }: MountEntry): Generator<VolumeName> {
    yield* this.#byID.get(id) ?? [];
    yield* this.#points.at(point);
  }

  /** The same for a mount of the node's table. */
  *onNode({ shared, point }: MountEntry): Generator<VolumeName> {
    yield* this.#onNode.at(point);
    if (shared !== undefined) yield* this.#byGroup.get(shared) ?? [];
  }

  #add(volume: VolumeName, dependencies: MountDependencies): void {
    this.#ofVolume.set(volume, dependencies);
    for (const point of dependencies.points) this.#points.add(point, volume);
    for (const point of dependencies.onNode ?? []) this.#onNode.add(point, volume);
    for (const id of dependencies.ids) add(this.#byID, id, volume);
    for (const group of dependencies.groups) add(this.#byGroup, group, volume);
  }

  #remove(volume: VolumeName, dependencies: MountDependencies): void {
    for (const point of dependencies.points) this.#points.remove(point, volume);
    for (const point of dependencies.onNode ?? []) this.#onNode.remove(point, volume);
    for (const id of dependencies.ids) remove(this.#byID, id, volume);
    for (const group of dependencies.groups) remove(this.#byGroup, group, volume);
  }
}

function isSame(a: MountDependencies, b: MountDependencies): boolean {
  const same = isEqual(a.points, b.points) && isEqual(a.ids, b.ids) && isEqual(a.groups, b.groups);
  return same && isEqual(a.onNode ?? [], b.onNode ?? []);
}

function isEqual<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((value, i) => value === b[i]);
}

function add<K>(map: Map<K, Set<VolumeName>>, key: K, volume: VolumeName): void {
  const volumes = map.get(key);
  if (volumes === undefined) map.set(key, new Set([volume]));
  else volumes.add(volume);
}

function remove<K>(map: Map<K, Set<VolumeName>>, key: K, volume: VolumeName): void {
  const volumes = map.get(key);
  volumes?.delete(volume);
  if (volumes?.size === 0) map.delete(key);
}

/** Which volumes look at which paths of a mount table. */
class PointIndex {
  readonly #byPoint = new Map<string, Set<VolumeName>>();
  /** How many points lie beneath a directory. */
  readonly #above = new Map<string, number>();

  add(point: string, volume: VolumeName): void {
    const volumes = this.#byPoint.get(point);
    if (volumes === undefined) this.#byPoint.set(point, new Set([volume]));
    else volumes.add(volume);
    for (const above of ancestorsOf(point)) this.#above.set(above, (this.#above.get(above) ?? 0) + 1);
  }

  remove(point: string, volume: VolumeName): void {
    const volumes = this.#byPoint.get(point);
    volumes?.delete(volume);
    if (volumes?.size === 0) this.#byPoint.delete(point);
    for (const above of ancestorsOf(point)) {
      const left = (this.#above.get(above) ?? 0) - 1;
      if (left > 0) this.#above.set(above, left);
      else this.#above.delete(above);
    }
  }

  /** Those that look at this path, or at one beneath it. */
  *at(point: string): Generator<VolumeName> {
    yield* this.#byPoint.get(point) ?? [];
    if (point !== "/" && !this.#above.has(point)) return;
    for (const [path, volumes] of this.#byPoint) if (isBeneath(path, point)) yield* volumes;
  }
}

/** PURE. The mounts that a volume's plan was made from, or would be if they were there. */
export function mountDependenciesOf(
  { actualState, record, desired }: VolumePlan,
  { settings, table, nodeTable }: PlanInput,
): MountDependencies {
  const keyed = desired === undefined ? record : isInvalid(desired) ? desired : desired.spec;
  const staged = [record?.stage?.path, ...(keyed === undefined ? [] : [stagingPath(settings, keyed)])];
  const ours = actualState.targets.flatMap((target) => target.ours ?? []);
  const published = (record?.targets ?? []).map((target) => target.published?.path);
  const unread = actualState.unread?.points ?? [];
  const points = [
    ...actualState.targets.map(({ path }) => path),
    ...ours.map(({ point }) => point),
    ...staged,
    ...published,
    ...unread,
  ];
  const ofKubelet = actualState.kubelet?.points ?? [];
  const ids = (record?.targets ?? []).flatMap(({ mountID }) => mountID ?? []);
  const groups =
    nodeTable === undefined
      ? []
      : ours.flatMap(({ shared, master, parent }) => [shared, master, table?.byID(parent)?.shared]);
  // What kubelet mounts it mounts in the node's namespace.
  const here = nodeTable === undefined ? [...points, ...ofKubelet] : points;
  const onNode = nodeTable === undefined ? [] : ofKubelet;
  return { points: distinct(here), ids: distinct(ids), groups: distinct(groups), onNode: distinct(onNode) };
}

function distinct<T>(values: readonly (T | undefined)[]): T[] {
  return [...new Set(values.filter((value) => value !== undefined))];
}
