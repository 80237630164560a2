import { isRecord } from "../../kube/json.ts";
import type { VolumeName } from "../model/identities.ts";
import type { VolumeRecord } from "../model/volume-record.ts";
import type { ReapRecord } from "./reap-record.ts";

/**
 * The journal as text: a header, then one line for each change, newest last. A line is `<checksum> <json>`, so that one
 * that was cut off by a crash is told from a whole one.
 *
 *   {"journal":1,"bootID":"…","epoch":7,"lostIn":"…"}
 *   {"put":{"name":"worker-1.datasets-4f1c",…}}
 *   {"forget":"worker-1.datasets-4f1c"}
 *   {"reap":{"path":"/var/lib/kubelet/pods/…",…}}
 *   {"reaped":"/var/lib/kubelet/pods/…"}
 */
export interface JournalState {
  readonly bootID: string;
  /** Number of agent starts on this node. */
  readonly epoch: number;
  /** The boot in which records were lost, if any were. Mounts of lost records may exist until the next boot. */
  readonly lostIn?: string | undefined;
  readonly records: ReadonlyMap<VolumeName, VolumeRecord>;
  /** Clean-ups of kubelet's leftovers that have begun, by path. */
  readonly reaps?: ReadonlyMap<string, ReapRecord>;
}

/** The contents of a journal. A torn last line is dropped, and is no damage: a crash during a write leaves it. */
export interface ParsedJournal {
  /** Undefined if the header is missing or damaged: then nothing is concluded of reboots since. */
  readonly bootID: string | undefined;
  readonly epoch: number;
  readonly lostIn: string | undefined;
  readonly records: ReadonlyMap<VolumeName, VolumeRecord>;
  readonly reaps: ReadonlyMap<string, ReapRecord>;
  /** Whole lines that could not be understood: damage, which a crash alone does not cause. */
  readonly damaged: number;
}

type Entry =
  | ({ readonly journal: number } & Omit<JournalState, "records" | "reaps">)
  | { readonly put: VolumeRecord }
  | { readonly forget: VolumeName }
  | { readonly reap: ReapRecord }
  | { readonly reaped: string };

const formatVersion = 1;

/** The journal was written by an agent that writes it in another way. */
export class JournalFormatError extends Error {
  override readonly name = "JournalFormatError";

  constructor(found: number) {
    super(
      `it has format ${found}, this agent understands ${formatVersion}: use an agent of the version that has written it`,
    );
  }
}

/** The whole state as text. */
export function formatJournal(state: JournalState): string {
  const { records, reaps, ...header } = state;
  const lines = [...records.values()].map((record) => line({ put: record }));
  const reaping = [...(reaps?.values() ?? [])].map((reap) => line({ reap }));
  return [line({ journal: formatVersion, ...header }), ...lines, ...reaping].join("");
}

/** PURE. The line that sets the record of a volume; it replaces earlier lines of the same volume. */
export function formatPut(record: VolumeRecord): string {
  return line({ put: record });
}

/** PURE. The line that drops the record of a volume. */
export function formatForget(name: VolumeName): string {
  return line({ forget: name });
}

/** PURE. The line that sets the record of a clean-up of kubelet's leftovers at a path; undefined drops it. */
export function formatReap(path: string, reap: ReapRecord | undefined): string {
  return line(reap === undefined ? { reaped: path } : { reap });
}

/**
 * The state that a text stands for. A last line without its end was being written when the agent or the machine died:
 * its effect had not begun, so it is passed over. A whole one that has another character for its end was damaged since.
 * @throws JournalFormatError if it was written by a version of the agent that this one does not understand
 */
export function parseJournal(text: string): ParsedJournal {
  const records = new Map<VolumeName, VolumeRecord>();
  const reaps = new Map<string, ReapRecord>();
  let header: Pick<ParsedJournal, "bootID" | "epoch" | "lostIn"> = { bootID: undefined, epoch: 0, lostIn: undefined };
  let damaged = 0;
  const lines = text.split("\n");
  const last = lines.pop() ?? ""; // "" after the last newline, or a line that was cut off
  if (parseLine(last.slice(0, -1)) !== undefined) {
    lines.push(last.slice(0, -1));
    damaged++;
  }
  for (const raw of lines) {
    const entry = parseLine(raw);
    if (entry === undefined) damaged++;
    else if ("put" in entry) records.set(entry.put.name, entry.put);
    else if ("forget" in entry) records.delete(entry.forget);
    else if ("reap" in entry) reaps.set(entry.reap.path, entry.reap);
    else if ("reaped" in entry) reaps.delete(entry.reaped);
    else if (entry.journal !== formatVersion) {
      throw new JournalFormatError(entry.journal);
    } else header = { bootID: entry.bootID, epoch: entry.epoch, lostIn: entry.lostIn };
  }
  return { ...header, records, reaps, damaged };
}

function line(entry: Entry): string {
  const json = JSON.stringify(entry);
  return `${checksum(json)} ${json}\n`;
}

function parseLine(raw: string): Entry | undefined {
  const json = raw.slice(9);
  if (raw.slice(0, 9) !== `${checksum(json)} `) return undefined;
  try {
    const entry: unknown = JSON.parse(json);
    return isRecord(entry) && isEntry(entry) ? entry : undefined;
  } catch {
    return undefined; // whole by its checksum, but never written by an agent
  }
}

/** The fields that everything else depends on: the key of a line, and the fields that identify the state. */
function isEntry(entry: { readonly [field: string]: unknown }): entry is Entry & typeof entry {
  const { put, forget, reap, reaped, journal, bootID, epoch } = entry;
  if (put !== undefined) return isRecord(put) && isText(put["name"]) && isListOfPaths(put["targets"]);
  if (reap !== undefined) return isRecord(reap) && isText(reap["path"]);
  if (journal !== undefined)
    return typeof journal === "number" && (journal !== formatVersion || (isText(bootID) && typeof epoch === "number"));
  return isText(forget) || isText(reaped);
}

function isListOfPaths(value: unknown): boolean {
  return Array.isArray(value) && value.every((entry) => isRecord(entry) && isText(entry["path"]));
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

/** FNV-1a over UTF-16 units, 8 hexadecimal digits: against torn and damaged lines, not against an enemy (0700). */
function checksum(text: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}
