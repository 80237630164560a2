import { parseJournal } from "../../../src/agent/journal/journal-format.ts";
import { asVolumeName, type VolumeName } from "../../../src/agent/model/identities.ts";
import type { VolumeRecord } from "../../../src/agent/model/volume-record.ts";
import { type MountIdentity, sameIdentity } from "../../../src/host/mount-table/mount-table.ts";
import type { Machine } from "../machine.ts";

interface Parsed {
  readonly text: string;
  readonly records: Map<VolumeName, VolumeRecord>;
  readonly mayHaveLost: boolean;
}

/** The records that a machine's journal holds on disk at this moment: what a crash would leave. */
export class JournalView {
  readonly #parsed = new WeakMap<Machine, Parsed>();
  readonly #generations = new WeakMap<Machine, Map<string, number>>();

  /** Of an intent that the journal has ever been seen to speak of. */
  highestGeneration(machine: Machine, uid: string): number {
    return this.#generations.get(machine)?.get(uid) ?? 0;
  }

  records(machine: Machine): ReadonlyMap<VolumeName, VolumeRecord> {
    return this.#read(machine).records;
  }

  /** Whether its header says that records were lost in this boot. */
  mayHaveLost(machine: Machine): boolean {
    return this.#read(machine).mayHaveLost;
  }

  #read(machine: Machine): Parsed {
    const text = machine.journal.text ?? "";
    const known = this.#parsed.get(machine);
    if (known !== undefined && known.text === text) return known;
    const parsed = extended(known, text) ?? whole(text);
    this.#parsed.set(machine, parsed);
    this.#remember(machine, parsed.records);
    return parsed;
  }

  /**
   * The volume that a path is recorded for: its staging path, its data directory, or one of its targets. A volume that
   * has left the path may be on record there still, beside the one that has it now: `identity` tells which is meant.
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

  #remember(machine: Machine, records: ReadonlyMap<VolumeName, VolumeRecord>): void {
    const generations = this.#generations.get(machine) ?? new Map<string, number>();
    this.#generations.set(machine, generations);
    for (const { uid, generation } of records.values()) {
      generations.set(uid, Math.max(generation, generations.get(uid) ?? 0));
    }
  }
}

function whole(text: string): Parsed {
  const { records, lostIn } = parseJournal(text);
  return { text, records: new Map(records), mayHaveLost: lostIn !== undefined };
}

/** Most changes are lines at the end: these are read alone. */
function extended(known: Parsed | undefined, text: string): Parsed | undefined {
  if (known === undefined || !known.text.endsWith("\n") || !text.startsWith(known.text)) return undefined;
  const added = text.slice(known.text.length);
  if (added.includes('"journal"')) return undefined;
  for (let from = 0; from < added.length; ) {
    const end = added.indexOf("\n", from);
    if (end === -1) break; // cut off
    const line = added.slice(from, end + 1);
    from = end + 1;
    const forgotten = /^[0-9a-f]{8} \{"forget":"([^"\\]*)"\}\n$/.exec(line)?.[1];
    if (forgotten !== undefined) known.records.delete(asVolumeName(forgotten));
    else if (line.includes('"forget"')) return undefined;
    else for (const [name, record] of parseJournal(line).records) known.records.set(name, record);
  }
  return { ...known, text };
}
