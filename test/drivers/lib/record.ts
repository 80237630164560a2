// What a driver was asked, what it did and what it answered, for the checker of histories: one JSON line each, only
// ever appended.
import { appendFileSync, readFileSync } from "node:fs";

export interface RecordLine {
  /** Nanoseconds of the machine's monotonic clock, which all processes share: decimal. */
  readonly at: string;
  /** Which driver process, on which node. */
  readonly pid: number;
  readonly node: string;
  /** Number of the call within the process: its call, effects and reply have the same. */
  readonly call: number;
  readonly kind: "call" | "begin" | "end" | "failed" | "fault" | "reply";
  /** Name of the RPC, or of the effect. */
  readonly what: string;
  readonly volume?: string;
  /** Request without secrets, an effect's details, or the code and message of an answer that is not OK. */
  readonly detail?: object;
}

export interface Recorder {
  write(line: Omit<RecordLine, "at" | "pid" | "node">): void;
}

/** Each line is one write of one process at the end of the file, so that several drivers can share it. */
export function recordTo(path: string, node: string): Recorder {
  return {
    write(line) {
      const full: RecordLine = { at: String(process.hrtime.bigint()), pid: process.pid, node, ...line };
      appendFileSync(path, `${JSON.stringify(full, plain)}\n`);
    },
  };
}

export function readRecord(path: string): RecordLine[] {
  const lines = readFileSync(path, "utf8").split("\n");
  lines.pop(); // empty, or cut off by a kill
  return lines.map((line) => JSON.parse(line) as RecordLine);
}

/** The part of a volume's context that holds tokens of service accounts. */
const tokens = "csi.storage.k8s.io/serviceAccount.tokens";

/** Maps as objects; of secrets the names alone, and of tokens that there were some. */
function plain(key: string, value: unknown): unknown {
  if (!(value instanceof Map)) return value;
  if (key === "secrets") return [...value.keys()].sort();
  const shown = Object.fromEntries(value);
  return value.has(tokens) ? { ...shown, [tokens]: "given" } : shown;
}
