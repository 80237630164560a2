import { ancestorsOf } from "../../api/values/path.ts";
import { isBeneath } from "../../host/mount-table/mount-table.ts";
import type { Problem } from "../model/actual-volume.ts";
import { type Desired, type DesiredMount, isInvalid } from "../model/desired.ts";
import type { MountPath, VolumeName } from "../model/identities.ts";
import type { PlanSettings } from "../model/plan-input.ts";
import type { VolumeRecord } from "../model/volume-record.ts";
import { pathProblem } from "./path-problem.ts";

interface Claim extends Pick<DesiredMount, "path" | "pod"> {
  readonly volume: VolumeName;
  /** Mounted there, or about to be, by our own record. */
  readonly recorded: boolean;
}

/**
 * Which volume has which path. Two volumes on one path, or one beneath the other, exclude each other: what is recorded
 * stays, nothing new is set up, and if neither is recorded neither is set up (safety rule 15).
 */
export class PathOwners {
  readonly #ofVolume = new Map<VolumeName, readonly Claim[]>();
  readonly #claims = new Map<string, Set<Claim>>();
  /** Claims on what lies beneath a path. */
  readonly #beneath = new Map<string, Set<Claim>>();

  /**
   * Sets the paths that one volume claims.
   * @returns other volumes whose plan depends on these paths
   */
  set(volume: VolumeName, desired: Desired | undefined, record: VolumeRecord | undefined): Set<VolumeName> {
    const before = this.#ofVolume.get(volume) ?? [];
    const after = claimsOf(volume, desired, record);
    const gone = before.filter((claim) => !after.some((other) => isSame(claim, other)));
    const come = after.filter((claim) => !before.some((other) => isSame(claim, other)));
    for (const claim of gone) this.#remove(claim);
    for (const claim of come) this.#add(claim);
    const kept = before.filter((claim) => !gone.includes(claim));
    if (gone.length + come.length > 0) this.#ofVolume.set(volume, [...kept, ...come]);
    if (after.length === 0) this.#ofVolume.delete(volume);
    const others = [...gone, ...come].flatMap(({ path }) => this.#others(volume, path));
    return new Set(others.map((claim) => claim.volume));
  }

  /**
   * The problem that keeps `volume` from setting up `path`; undefined if there is none. A volume with a path that no
   * volume may have does not block others: a path that is a whole allowed prefix would block every volume beneath it.
   */
  conflict(volume: VolumeName, path: MountPath, settings: PlanSettings): Problem | undefined {
    const others = this.#others(volume, path).filter((claim) => claim.recorded || !pathProblem(claim, settings));
    if (others.length === 0) return undefined;
    const has = [...(this.#claims.get(path) ?? [])].some((claim) => claim.volume === volume && claim.recorded);
    // Always the same one of several, whatever order they came in: a status that changes its mind is written each time.
    const [holder] = others.filter(({ recorded }) => recorded || !has).sort(byWeight);
    if (holder === undefined) return undefined;
    const same = holder.path === path;
    const relation = same ? "the same path" : isBeneath(path, holder.path) ? "a path above it" : "a path beneath it";
    const message = holder.recorded
      ? `${path}: ${relation} (${holder.path}) is mounted for ${holder.volume}: it has to be unmounted first`
      : `${path}: ${holder.volume} uses ${same ? "it, too" : `${relation} (${holder.path})`}: neither is mounted until one of the paths changes`;
    return { reason: "PathConflict", message, on: { kind: "NodeVolumeIntent", name: holder.volume } };
  }

  /** Volumes that claim this very path. */
  volumesOn(path: MountPath): Set<VolumeName> {
    return new Set([...(this.#claims.get(path) ?? [])].map(({ volume }) => volume));
  }

  /** Claims of other volumes on the path itself, on directories above it, and beneath it. */
  #others(volume: VolumeName, path: MountPath): Claim[] {
    const places = [this.#claims.get(path), this.#beneath.get(path)];
    for (const ancestor of ancestorsOf(path)) places.push(this.#claims.get(ancestor));
    const found: Claim[] = [];
    for (const place of places) for (const claim of place ?? []) if (claim.volume !== volume) found.push(claim);
    return found;
  }

  #add(claim: Claim): void {
    add(this.#claims, claim.path, claim);
    for (const ancestor of ancestorsOf(claim.path)) add(this.#beneath, ancestor, claim);
  }

  #remove(claim: Claim): void {
    remove(this.#claims, claim.path, claim);
    for (const ancestor of ancestorsOf(claim.path)) remove(this.#beneath, ancestor, claim);
  }
}

function claimsOf(volume: VolumeName, desired: Desired | undefined, record: VolumeRecord | undefined): Claim[] {
  const recorded = (record?.targets ?? []).map(({ path }) => ({ volume, path, recorded: true }));
  if (desired === undefined || isInvalid(desired) || desired.deleting || desired.mode === "Observe") return recorded;
  return [
    ...recorded,
    ...desired.mounts.map(({ path, pod }) => ({ volume, path, ...(pod && { pod }), recorded: false })),
  ];
}

function isSame(a: Claim, b: Claim): boolean {
  return a.path === b.path && a.recorded === b.recorded && (a.pod === undefined) === (b.pod === undefined);
}

function byWeight(a: Claim, b: Claim): number {
  if (a.recorded !== b.recorded) return a.recorded ? -1 : 1;
  const [one, other] = a.path === b.path ? [a.volume, b.volume] : [a.path, b.path];
  return one < other ? -1 : one > other ? 1 : 0;
}

function add(map: Map<string, Set<Claim>>, path: string, claim: Claim): void {
  const claims = map.get(path);
  if (claims === undefined) map.set(path, new Set([claim]));
  else claims.add(claim);
}

function remove(map: Map<string, Set<Claim>>, path: string, claim: Claim): void {
  const claims = map.get(path);
  claims?.delete(claim);
  if (claims?.size === 0) map.delete(path);
}
