import { parseJournal } from "../../../src/agent/journal-format.ts";
import type { VolumeRecord } from "../../../src/agent/record.ts";
import type { Machine } from "../machine.ts";

/** The records that a machine's journal holds on disk at this moment: what a crash would leave. */
export class JournalView {
  readonly #parsed = new WeakMap<Machine, { readonly text: string; readonly records: Map<string, VolumeRecord> }>();

  records(machine: Machine): ReadonlyMap<string, VolumeRecord> {
    const text = machine.journal.text ?? "";
    const known = this.#parsed.get(machine);
    if (known !== undefined && known.text === text) return known.records;
    const records = this.#extended(known, text) ?? new Map(parseJournal(text).records);
    this.#parsed.set(machine, { text, records });
    return records;
  }

  /** The volume that a path is recorded for: its staging path, its data directory, or one of its targets. */
  recordOf(machine: Machine, path: string): VolumeRecord | undefined {
    for (const record of this.records(machine).values()) {
      if (path.endsWith(`/${record.key}`) || record.targets.some((target) => target.path === path)) return record;
    }
    return undefined;
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
