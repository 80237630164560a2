import { messageOf, VolumeError } from "../../errors.ts";
import type { JournalFile } from "../../host/ports/host-ports.ts";
import type { ChildProcessID } from "../../host/ports/types.ts";
import type { Logger } from "../../ports.ts";
import type { VolumeName } from "../model/identities.ts";
import { afterReboot, type VolumeRecord } from "../model/volume-record.ts";
import {
  formatForget,
  formatJournal,
  formatPut,
  formatReap,
  JournalFormatError,
  type JournalState,
  type ParsedJournal,
  parseJournal,
} from "./journal-format.ts";
import type { ReapRecord } from "./reap-record.ts";

/** Lines after which the journal is written anew, if most of them are old. */
const compactAfter = 1000;
/** What the log says of them. */
const ofLostRecords = "mounts without a record are adopted if they are surely ours, and else reported";

/** Damage that was found when the journal was opened: shown in NodeVolumeState until the agent starts anew. */
export interface JournalDamage {
  readonly lines: number;
  /** Where the journal was kept as it was found. */
  readonly copy: string;
}

/** A change of one record that is on its way to the disk; without a record it is forgotten. */
interface Write {
  readonly change:
    | { readonly name: VolumeName; readonly record: VolumeRecord | undefined }
    | { readonly path: string; readonly reap: ReapRecord | undefined };
  readonly text: string;
  readonly done: (error?: Error) => void;
}

/**
 * The records of all volumes, on disk and in memory. A record that could not be written does not exist, neither for
 * this process nor for the next one. A change is durable and visible when its promise resolves. Changes that wait for
 * the disk at the same time are written together with one fsync (group commit). Changes of one volume are written one
 * after the other.
 */
export class Journal {
  readonly bootID: string;
  readonly epoch: number;
  /** Damage that was found when the journal was opened: see mayHaveLost for mounts whose records were lost. */
  readonly damage: JournalDamage | undefined;
  /**
   * Whether records of mounts of this boot may be lost: the journal was missing or damaged. With an intact journal, a
   * missing record proves that nothing was done.
   */
  readonly mayHaveLost: boolean;
  readonly #file: JournalFile;
  readonly #records: Map<VolumeName, VolumeRecord>;
  readonly #reaps: Map<string, ReapRecord>;
  readonly #children = new Map<VolumeName, ChildProcessID>();
  /** Writes that failed since it was opened. */
  failures = 0;
  #lines: number;
  /** Whether the file may end in half a line, so that nothing may be appended to it. */
  #torn = false;
  #pending: Write[] = [];
  #writing = false;

  private constructor(file: JournalFile, state: JournalState, damage: JournalDamage | undefined) {
    this.damage = damage;
    this.bootID = state.bootID;
    this.epoch = state.epoch;
    this.mayHaveLost = state.lostIn !== undefined;
    this.#file = file;
    this.#records = new Map();
    for (const [name, record] of state.records) this.#remember({ name, record });
    this.#reaps = new Map(state.reaps);
    this.#lines = state.records.size;
  }

  /**
   * Reads the journal and begins a new epoch. One that is damaged is copied first, as opening it writes it anew.
   * @throws VolumeError JournalFailed: nothing may be touched then
   */
  static async open(file: JournalFile, bootID: string, log: Logger): Promise<Journal> {
    const text = await file.read().catch((error: unknown) => {
      throw failed("cannot be read", error);
    });
    const before = parse(text ?? "");
    // Without a header, a reboot cannot be distinguished from a restart: mounts may still exist (law L2).
    const rebooted = before.bootID !== undefined && before.bootID !== bootID;
    // The text of a journal that is gone is "" where an agent has run before; undefined: it is the first start.
    const lost = text !== undefined && (before.bootID === undefined || before.damaged > 0);
    const lostIn = !rebooted && (lost || before.lostIn === bootID) ? bootID : undefined;
    const records = new Map<VolumeName, VolumeRecord>();
    for (const [name, record] of before.records) records.set(name, rebooted ? afterReboot(record) : record);
    const reaps: ReadonlyMap<string, ReapRecord> = rebooted ? new Map() : before.reaps; // no mount survives a reboot
    try {
      const damage = await keepDamaged(file, before, log);
      const journal = new Journal(file, { bootID, epoch: before.epoch + 1, lostIn, records, reaps }, damage);
      await file.replace(formatJournal(journal.#state()));
      if (text === "") log.error(`the journal is gone: ${ofLostRecords}`);
      return journal;
    } catch (error) {
      throw failed("cannot be written", error);
    }
  }

  get records(): ReadonlyMap<VolumeName, VolumeRecord> {
    return this.#records;
  }

  /** What kubelet has left and is being removed, by path. */
  get reaps(): ReadonlyMap<string, ReapRecord> {
    return this.#reaps;
  }

  /** Children that are on record, by volume. */
  get children(): ReadonlyMap<VolumeName, ChildProcessID> {
    return this.#children;
  }

  /** @throws VolumeError JournalFailed: the effect that it announces must not begin, and the record is what it was */
  async put(record: VolumeRecord): Promise<void> {
    await this.#append({ change: { name: record.name, record }, text: formatPut(record) });
  }

  /** @throws VolumeError JournalFailed: the record is there still */
  async forget(name: VolumeName): Promise<void> {
    await this.#append({ change: { name, record: undefined }, text: formatForget(name) });
  }

  /** Writes down what is to be removed, or that it is over. @throws VolumeError JournalFailed */
  async putReap(path: string, reap: ReapRecord | undefined): Promise<void> {
    await this.#append({ change: { path, reap }, text: formatReap(path, reap) });
  }

  /** Closes the file. */
  close(): Promise<void> {
    return this.#file.close();
  }

  #append(write: Omit<Write, "done">): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#pending.push({
        ...write,
        done: (error) => (error === undefined ? resolve() : reject(failed("cannot be written", error))),
      });
      if (!this.#writing) void this.#write();
    });
  }

  /** Writes pending changes until there are none. Never rejects: each waiter gets the result of its own batch. */
  async #write(): Promise<void> {
    this.#writing = true;
    await undefined; // what is put by others in the same turn goes along
    while (this.#pending.length > 0) {
      const batch = this.#pending;
      this.#pending = [];
      const error = await this.#writeBatch(batch);
      if (error === undefined) for (const { change } of batch) this.#remember(change);
      for (const entry of batch) entry.done(error);
    }
    this.#writing = false;
  }

  async #writeBatch(batch: readonly Write[]): Promise<Error | undefined> {
    try {
      this.#lines += batch.length;
      // An agent of before reaping takes none of its lines: none is left behind.
      const reaped = batch.some(({ change }) => "reap" in change && change.reap === undefined);
      const compact = reaped || (this.#lines >= compactAfter && this.#lines >= 4 * this.#records.size);
      if (!compact && !this.#torn) await this.#file.append(batch.map(({ text }) => text).join(""));
      else {
        const records = new Map(this.#records);
        const reaps = new Map(this.#reaps);
        for (const { change } of batch) {
          if ("reap" in change) setOrDelete(reaps, change.path, change.reap);
          else setOrDelete(records, change.name, change.record);
        }
        await this.#file.replace(formatJournal({ ...this.#state(), records, reaps }));
        this.#lines = records.size;
        this.#torn = false;
      }
      return undefined;
    } catch (error) {
      this.#torn = true;
      this.failures++;
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  #remember(change: Write["change"]): void {
    if ("reap" in change) {
      setOrDelete(this.#reaps, change.path, change.reap);
      return;
    }
    const { name, record } = change;
    setOrDelete(this.#records, name, record);
    setOrDelete(this.#children, name, record?.child);
  }

  #state(): JournalState {
    const lostIn = this.mayHaveLost ? this.bootID : undefined;
    return { bootID: this.bootID, epoch: this.epoch, lostIn, records: this.#records, reaps: this.#reaps };
  }
}

function setOrDelete<K, T>(map: Map<K, T>, name: K, value: T | undefined): void {
  if (value === undefined) map.delete(name);
  else map.set(name, value);
}

function parse(text: string): ParsedJournal {
  try {
    return parseJournal(text);
  } catch (error) {
    throw failed(error instanceof JournalFormatError ? "was written by another agent" : "cannot be read", error);
  }
}

async function keepDamaged(
  file: JournalFile,
  { damaged, epoch }: ParsedJournal,
  log: Logger,
): Promise<JournalDamage | undefined> {
  if (damaged === 0) return undefined;
  const copy = await file.keepCopy(`damaged-${epoch + 1}`);
  log.error(`lines of the journal are damaged: ${ofLostRecords}`, { lines: damaged, copy });
  return { lines: damaged, copy };
}

function failed(what: string, error: unknown): VolumeError {
  const message = `the journal in the state directory ${what}: ${messageOf(error)}`;
  return new VolumeError("JournalFailed", "transient", message, { cause: error });
}
