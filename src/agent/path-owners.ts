import { ancestorsOf } from "../api/path.ts";
import { isBeneath } from "../host/mount-table.ts";
import { type Desired, isInvalid } from "./desired-volume.ts";
import type { VolumeRecord } from "./record.ts";
import type { Problem } from "./view.ts";

interface Claim {
  readonly volume: string;
  readonly path: string;
  /** Mounted there, or about to be, by our own record. */
  readonly recorded: boolean;
}

/**
 * Which volume has which path. Two volumes on one path, or one beneath the other, exclude each other: what is recorded
 * stays, nothing new is set up, and if neither is recorded neither is set up (design.md section 2, safety rule 15).
 */
export class PathOwners {
  readonly #claims = new Map<string, Claim[]>();
  /** Paths that have a claim on them or beneath them. */
  readonly #beneath = new Map<string, Claim[]>();

  constructor(desired: Iterable<Desired>, records: Iterable<VolumeRecord>) {
    for (const record of records) {
      for (const { path } of record.targets) this.#add({ volume: record.name, path, recorded: true });
    }
    for (const volume of desired) {
      if (isInvalid(volume) || volume.deleting || volume.mode === "Observe") continue;
      for (const { path } of volume.mounts) this.#add({ volume: volume.name, path, recorded: false });
    }
  }

  /** Why `volume` may not set up `path`; undefined if it may. */
  conflict(volume: string, path: string): Problem | undefined {
    const others = [...this.#above(path), ...(this.#beneath.get(path) ?? [])].filter((c) => c.volume !== volume);
    const has = this.#claims.get(path)?.some((claim) => claim.volume === volume && claim.recorded) === true;
    const holder = others.find((claim) => claim.recorded) ?? (has ? undefined : others[0]);
    if (holder === undefined) return undefined;
    const relation =
      holder.path === path ? "the same path" : isBeneath(path, holder.path) ? "a path above it" : "a path beneath it";
    const message = holder.recorded
      ? `${path}: ${relation} (${holder.path}) is mounted for ${holder.volume}: it has to be unmounted first`
      : `${path}: ${holder.volume} wants ${relation} (${holder.path}) too: neither is mounted until one gives way`;
    return { reason: "PathConflict", message, on: { kind: "NodeVolumeIntent", name: holder.volume } };
  }

  #add(claim: Claim): void {
    push(this.#claims, claim.path, claim);
    for (const ancestor of ancestorsOf(claim.path)) push(this.#beneath, ancestor, claim);
  }

  /** Claims on the path itself and on directories above it. */
  #above(path: string): Claim[] {
    return [path, ...ancestorsOf(path)].flatMap((p) => this.#claims.get(p) ?? []);
  }
}

function push(map: Map<string, Claim[]>, path: string, claim: Claim): void {
  const list = map.get(path);
  if (list === undefined) map.set(path, [claim]);
  else list.push(claim);
}
