import { messageOf, VolumeError } from "../errors.ts";
import type { JournalFile } from "../host/ports.ts";
import type { Logger } from "../ports.ts";
import { formatForget, formatJournal, formatPut, type JournalState, parseJournal } from "./journal-format.ts";
import { afterReboot, type VolumeRecord } from "./record.ts";

/** Lines after which the journal is written anew, if most of them are old. */
const compactAfter = 1000;

/**
 * The records of all volumes, in memory and on disk. A change is durable when its promise resolves; changes that wait
 * for the disk at the same time are written together, with one fdatasync.
 */
export class Journal {
  readonly bootID: string;
  readonly epoch: number;
  /** Lines that were lost to damage when it was opened: mounts that they spoke of look foreign now. */
  readonly damaged: number;
  readonly #file: JournalFile;
  readonly #records: Map<string, VolumeRecord>;
  #lines: number;
  /** Whether the file may end in half a line, so that nothing may be appended to it. */
  #torn = false;
  #pending: { text: string; done: (error?: Error) => void }[] = [];
  #writing = false;

  private constructor(file: JournalFile, state: JournalState, damaged: number) {
    this.damaged = damaged;
    this.bootID = state.bootID;
    this.epoch = state.epoch;
    this.#file = file;
    this.#records = new Map(state.records);
    this.#lines = state.records.size;
  }

  /**
   * Reads the journal and begins a new epoch.
   * @throws VolumeError JournalFailed: nothing may be touched then
   */
  static async open(file: JournalFile, bootID: string, log: Logger): Promise<Journal> {
    try {
      const before = parseJournal((await file.read()) ?? "");
      if (before.damaged > 0) log.error("journal lines could not be read", { lines: before.damaged });
      const rebooted = before.bootID !== bootID;
      const records = new Map<string, VolumeRecord>();
      for (const [name, record] of before.records) records.set(name, rebooted ? afterReboot(record) : record);
      const journal = new Journal(file, { bootID, epoch: before.epoch + 1, records }, before.damaged);
      await file.replace(formatJournal(journal.#state()));
      return journal;
    } catch (error) {
      throw failed(error);
    }
  }

  get records(): ReadonlyMap<string, VolumeRecord> {
    return this.#records;
  }

  /** @throws VolumeError JournalFailed: the effect that it announces must not begin */
  async put(record: VolumeRecord): Promise<void> {
    this.#records.set(record.name, record);
    await this.#append(formatPut(record));
  }

  async forget(name: string): Promise<void> {
    this.#records.delete(name);
    await this.#append(formatForget(name));
  }

  /** Lets go of the file. */
  close(): Promise<void> {
    return this.#file.close();
  }

  #append(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ text, done: (error) => (error === undefined ? resolve() : reject(failed(error))) });
      if (!this.#writing) void this.#write();
    });
  }

  /** Writes what is pending until nothing is. Never rejects: each waiter hears of its own batch. */
  async #write(): Promise<void> {
    this.#writing = true;
    while (this.#pending.length > 0) {
      const batch = this.#pending;
      this.#pending = [];
      const error = await this.#writeBatch(batch.map((entry) => entry.text).join(""), batch.length);
      for (const entry of batch) entry.done(error);
    }
    this.#writing = false;
  }

  async #writeBatch(text: string, lines: number): Promise<Error | undefined> {
    try {
      this.#lines += lines;
      const compact = this.#lines >= compactAfter && this.#lines >= 4 * this.#records.size;
      if (!compact && !this.#torn) await this.#file.append(text);
      else {
        await this.#file.replace(formatJournal(this.#state())); // memory has what `text` says already
        this.#lines = this.#records.size;
        this.#torn = false;
      }
      return undefined;
    } catch (error) {
      this.#torn = true;
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  #state(): JournalState {
    return { bootID: this.bootID, epoch: this.epoch, records: this.#records };
  }
}

function failed(error: unknown): VolumeError {
  const message = `the journal in the state directory cannot be written: ${messageOf(error)}`;
  return new VolumeError("JournalFailed", "transient", message, { cause: error });
}
