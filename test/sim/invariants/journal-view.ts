import { parseJournal } from "../../../src/agent/journal-format.ts";
import type { VolumeRecord } from "../../../src/agent/record.ts";
import { type MountIdentity, sameIdentity } from "../../../src/host/mount-table.ts";
import type { Machine } from "../machine.ts";

/** The records that a machine's journal holds on disk at this moment: what a crash would leave. */
export class JournalView {
  readonly #parsed = new WeakMap<Machine, { readonly text: string; readonly records: Map<string, VolumeRecord> }>();
  readonly #generations = new WeakMap<Machine, Map<string, number>>();

  /** Of an intent that the journal has ever been seen to speak of. */
  highestGeneration(machine: Machine, uid: string): number {
    return this.#generations.get(machine)?.get(uid) ?? 0;
  }

  records(machine: Machine): ReadonlyMap<string, VolumeRecord> {
    const text = machine.journal.text ?? "";
    const known = this.#parsed.get(machine);
    if (known !== undefined && known.text === text) return known.records;
    const records = this.#extended(known, text) ?? new Map(parseJournal(text).records);
    this.#parsed.set(machine, { text, records });
    this.#remember(machine, records);
    return records;
  }

  /**
   * The volume that a path is recorded for: its staging path, its data directory, or one of its targets. A volume that has
   * left the path may be on record there still, beside the one that has it now: `identity` tells which is meant.
   */
  recordOf(machine: Machine, path: string, identity?: MountIdentity): VolumeRecord | undefined {
    const found = [...this.records(machine).values()].filter(
      (record) => path.endsWith(`/${record.key}`) || record.targets.some((target) => target.path === path),
    );
    const [first] = found;
    if (found.length < 2 || identity === undefined) return first;
    const shows = ({ targets }: VolumeRecord) =>
      targets.some((target) => target.path === path && sameIdentity(target.identity, identity));
    return found.find(shows) ?? first;
  }

  #remember(machine: Machine, records: ReadonlyMap<string, VolumeRecord>): void {
    const generations = this.#generations.get(machine) ?? new Map<string, number>();
    this.#generations.set(machine, generations);
    for (const { uid, generation } of records.values()) {
      generations.set(uid, Math.max(generation, generations.get(uid) ?? 0));
    }
  }

  /** Most changes are lines at the end: these are read alone. */
  #extended(
    known: { readonly text: string; readonly records: Map<string, VolumeRecord> } | undefined,
    text: string,
  ): Map<string, VolumeRecord> | undefined {
    if (known === undefined || !known.text.endsWith("\n") || !text.startsWith(known.text)) return undefined;
    const added = text.slice(known.text.length);
    if (added.includes('"forget"')) return undefined;
    for (const [name, record] of parseJournal(added).records) known.records.set(name, record);
    return known.records;
  }
}
