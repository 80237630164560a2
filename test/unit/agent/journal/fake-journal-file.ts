import { formatJournal } from "../../../../src/agent/journal/journal-format.ts";
import { asIntentUID, type VolumeName } from "../../../../src/agent/model/identities.ts";
import type { VolumeRecord } from "../../../../src/agent/model/volume-record.ts";
import type { JournalFile } from "../../../../src/host/ports/host-ports.ts";

export const record = (name: VolumeName, generation = 1): VolumeRecord => ({
  name,
  key: `key-${name}`,
  type: "emptyDir",
  uid: asIntentUID("u1"),
  generation,
  targets: [],
});

/** A journal file in memory that fails when told to, as a full disk does: with half of the text written. */
export class FakeJournalFile implements JournalFile {
  text: string | undefined;
  appends = 0;
  replaces = 0;
  failNext = false;
  readonly copies = new Map<string, string | undefined>();

  async read(): Promise<string | undefined> {
    return this.text;
  }
  async append(text: string): Promise<void> {
    this.appends++;
    if (this.failNext) {
      this.failNext = false;
      this.text += text.slice(0, text.length / 2);
      throw new Error("ENOSPC");
    }
    this.text = (this.text ?? "") + text;
  }
  async replace(text: string): Promise<void> {
    this.replaces++;
    this.text = text;
  }
  async keepCopy(suffix: string): Promise<string> {
    this.copies.set(suffix, this.text);
    return suffix;
  }
  async close(): Promise<void> {}
}

/** A journal whose header names this version of the format. */
export function formatOf(version: number): string {
  const text = formatJournal({ bootID: "b", epoch: 1, records: new Map() });
  return lineOf(text.replace('"journal":1', `"journal":${version}`).slice(9, -1));
}

/** A line of a journal, whole by its checksum, whatever it says. */
export function lineOf(json: string): string {
  let hash = 0x811c9dc5;
  for (const char of json) hash = Math.imul(hash ^ char.charCodeAt(0), 0x01000193);
  return `${(hash >>> 0).toString(16).padStart(8, "0")} ${json}\n`;
}
