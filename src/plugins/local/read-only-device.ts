import { VolumeError } from "../../errors.ts";
import type { DeviceInfo } from "../../host/ports/host-ports.ts";

/**
 * Keeps each of them from writing its journal to its place, which they do under `ro`, too. The ext drivers know it by
 * this name as well.
 */
const withoutReplay: { readonly [fsType: string]: string } = {
  ext3: "norecovery",
  ext4: "norecovery",
  xfs: "norecovery",
  btrfs: "rescue=nologreplay",
};

/** Options of ext3 and ext4 that are of a journal, and refused by the kernel where none is used. */
const ofJournal = /^(commit=|data=|journal_checksum$)/;

/** PURE. The options of a file system of which nothing is to be written: another node may have it mounted. */
export function readOnlyOptions(fsType: string, asked: readonly string[]): string[] {
  const option = withoutReplay[fsType];
  const kept = /^ext[34]$/.test(fsType) ? asked.filter((one) => !ofJournal.test(one)) : asked;
  return [...kept, "ro", ...(option === undefined ? [] : [option])];
}

/** @throws VolumeError JournalNotReplayed: it would show what is not so, and the kernel would write (ext4: orphans) */
export function refuseJournalLeft({ path, journalLeft = false }: DeviceInfo, fsType: string): void {
  if (!journalLeft) return;
  const message = `the ${fsType} on ${path} was not unmounted by who wrote it last, or is being written: its journal is not brought to its place by a volume with readOnly, so it may show what is not so. Mount it once without readOnly, on one node, and unmount it`;
  throw new VolumeError("JournalNotReplayed", "transient", message, { on: { kind: "Device", name: path } });
}
