import { type MountEntry, parseMountinfo } from "./mountinfo.ts";
import type { OptionLists } from "./option-lists.ts";

const newline = 10;
/** Bytes that are compared at once. */
const step = 4_096;

/** A mountinfo that was read, its mounts, and where the line of each begins. */
export interface ParsedText {
  readonly text: Buffer;
  readonly starts: readonly number[];
  readonly entries: readonly MountEntry[];
}

export const emptyText: ParsedText = { text: Buffer.alloc(0), starts: [], entries: [] };

/**
 * PURE. The mounts of a text, of which only lines that the last one did not have are parsed.
 * @param text is not kept
 */
export function parseAfter(last: ParsedText, text: Buffer, lists: OptionLists): ParsedText {
  const same = commonStart(last.text, text);
  if (same === last.text.length && same === text.length) return last;
  const first = linesWithin(last, same);
  const offset = last.starts[first] ?? last.text.length;
  const delta = text.length - last.text.length;
  const behind = linesBehind(last, commonEnd(last.text, text, offset));
  const end = (last.starts[behind] ?? last.text.length) + delta;
  const starts: number[] = [];
  for (let at = offset; at < end; at = lineAfter(text, at)) starts.push(at);
  const old = new Map<string, MountEntry>();
  for (let at = first; at < behind; at++) {
    const entry = last.entries[at];
    if (entry !== undefined) old.set(last.text.toString("latin1", last.starts[at], last.starts[at + 1]), entry);
  }
  const entries = starts.map((start, at) => {
    const next = starts[at + 1] ?? end;
    return old.get(text.toString("latin1", start, next)) ?? parseOne(text.toString("utf8", start, next), lists);
  });
  return {
    text: Buffer.from(text),
    starts: last.starts.slice(0, first).concat(
      starts,
      last.starts.slice(behind).map((at) => at + delta),
    ),
    entries: last.entries.slice(0, first).concat(entries, last.entries.slice(behind)),
  };
}

/**
 * PURE. The mounts of a text that have one of these ids. Each is parsed from a string that is its line and no more: V8
 * keeps alive what a string was cut out of, so that a field kept of it would keep the whole text.
 */
export function parseLinesOf(text: Buffer, ids: Iterable<number>, lists: OptionLists): Map<number, MountEntry> {
  const found = new Map<number, MountEntry>();
  for (const id of ids) {
    const start = text.indexOf(`\n${id} `) + 1; // 0 if it is none but the first
    const end = lineAfter(text, start);
    const line = text.toString("utf8", start, end);
    if (line.startsWith(`${id} `)) found.set(id, parseOne(line, lists));
  }
  return found;
}

function lineAfter(text: Buffer, at: number): number {
  const found = text.indexOf(newline, at);
  return found === -1 ? text.length : found + 1;
}

function parseOne(line: string, lists: OptionLists): MountEntry {
  const [entry] = parseMountinfo(line, lists);
  if (entry === undefined) throw new Error("mountinfo has an empty line");
  return entry;
}

/** Lines that lie in the first `length` bytes as a whole. */
function linesWithin({ starts, text }: ParsedText, length: number): number {
  let [low, high] = [0, starts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((starts[middle + 1] ?? text.length) <= length) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The first line that lies in the last `length` bytes as a whole, with the end of the line before it. */
function linesBehind({ starts, text }: ParsedText, length: number): number {
  let [low, high] = [0, starts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= text.length - length) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Bytes that two texts have in common at their beginning. */
function commonStart(a: Buffer, b: Buffer): number {
  const shorter = Math.min(a.length, b.length);
  let at = 0;
  while (at < shorter) {
    const end = Math.min(at + step, shorter);
    if (a.compare(b, at, end, at, end) !== 0) break;
    at = end;
  }
  while (at < shorter && a[at] === b[at]) at++;
  return at;
}

/** Bytes that two texts have in common at their end, none of the first `from` of either. */
function commonEnd(a: Buffer, b: Buffer, from: number): number {
  const most = Math.min(a.length, b.length) - Math.min(from, a.length, b.length);
  let length = 0;
  while (length < most) {
    const more = Math.min(length + step, most);
    if (a.compare(b, b.length - more, b.length - length, a.length - more, a.length - length) !== 0) break;
    length = more;
  }
  while (length < most && a[a.length - 1 - length] === b[b.length - 1 - length]) length++;
  return length;
}
