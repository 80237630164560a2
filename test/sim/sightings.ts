import type { NodeVolumeIntent } from "../../src/api/types.gen.ts";

/** How often each was seen, by kind and by name: as plain data. */
export type Counts = ReadonlyMap<string, ReadonlyMap<string, number>>;

/**
 * What was seen in one world or in many, and how often: a rule that holds because its case never occurs proves nothing.
 */
export class Sightings {
  /** By kind, then by name. */
  readonly #counts = new Map<string, Map<string, number>>();

  add(kind: string, name: string, times = 1): void {
    const names = this.#counts.get(kind) ?? new Map<string, number>();
    this.#counts.set(kind, names.set(name, (names.get(name) ?? 0) + times));
  }

  /** What the status of an intent tells. */
  intent({ metadata, status }: NodeVolumeIntent): void {
    this.add("state", status.state ?? "none");
    if (status.waiting !== undefined) this.add("waiting", status.waiting.reason);
    if (status.drift !== undefined) this.add("drift", status.drift.class);
    if (metadata.deletionTimestamp !== undefined && status.inUse === true) this.add("deleting", "still in use");
  }

  counts(): Counts {
    return this.#counts;
  }

  merge(counts: Counts): void {
    for (const [kind, names] of counts) for (const [name, times] of names) this.add(kind, name, times);
  }

  /** Those of `expected`, each "kind: name", that were never seen. */
  missing(expected: readonly string[]): string[] {
    return expected.filter((what) => {
      const [kind = "", name = ""] = what.split(": ");
      return this.#counts.get(kind)?.has(name) !== true;
    });
  }

  /** For people: a line for each kind. */
  toString(): string {
    return [...this.#counts]
      .map(([kind, names]) => {
        const counted = [...names].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, times]) => `${name} ${times}`);
        return `    ${kind}: ${counted.join(", ")}`;
      })
      .sort()
      .join("\n");
  }
}
