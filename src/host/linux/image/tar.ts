import { printable } from "../../../api/printable.ts";
import { VolumeError } from "../../../errors.ts";
import type { ByteStream } from "../byte-stream.ts";

/** One entry of an archive. */
export interface TarEntry {
  readonly kind: "file" | "directory" | "link" | "hardLink" | "leftOut";
  readonly path: string;
  /** Where a link leads, or which file a hard link is one more name of. */
  readonly target: string;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** Seconds since 1970. */
  readonly mtime: number;
  readonly size: number;
}

/** Tells of the bytes of an entry, once. */
export type ReadEntry = (take: (piece: Buffer) => void) => Promise<void>;

const block = 512;
const largestHeader = 1024 * 1024;

/** Device nodes and FIFOs are left out: nothing of a volume is to be more than data. */
const kinds: ReadonlyMap<string, TarEntry["kind"]> = new Map([
  ["0", "file"],
  ["\0", "file"],
  ["7", "file"],
  ["1", "hardLink"],
  ["2", "link"],
  ["3", "leftOut"],
  ["4", "leftOut"],
  ["5", "directory"],
  ["6", "leftOut"],
]);

/** Reads an archive in the formats that image builders write: ustar, with long names and sizes as in pax or GNU tar. */
export async function readTar(
  bytes: ByteStream,
  each: (entry: TarEntry, read: ReadEntry) => Promise<void>,
): Promise<void> {
  let over: { readonly [key: string]: string } = {};
  let extended = false;
  for (let header = await bytes.block(block); header !== undefined; header = await bytes.block(block)) {
    if (header.every((byte) => byte === 0)) continue; // the end, twice, and what fills it up
    refuseDamage(header);
    const type = String.fromCharCode(header[156] ?? 0);
    const size = over["size"] === undefined ? numberIn(header, 124, 12) : whole(over["size"]);
    const after = async () => bytes.each((block - (size % block)) % block, () => {});
    if ("xgLK".includes(type)) {
      if (size > largestHeader) throw damaged("has a header that is too large");
      const text = (await bytes.block(size)) ?? Buffer.alloc(0);
      await after();
      if (type === "x" && extended) throw damaged("has two extended headers for one entry");
      extended ||= type === "x";
      if (type === "x") over = { ...over, ...paxRecords(text) };
      else if (type !== "g") over = { ...over, [type === "L" ? "path" : "linkpath"]: textIn(text, 0, text.length) };
      continue;
    }
    const kind = kinds.get(type);
    if (kind === undefined) throw damaged(`has an entry of the type ${JSON.stringify(type)}, which is not known`);
    let left = kind === "file" || kind === "leftOut" ? size : 0;
    await each(entryOf(header, kind, left, over), async (take) => {
      const of = left;
      left = 0;
      await bytes.each(of, take);
    });
    await bytes.each(left, () => {});
    if (kind === "file" || kind === "leftOut") await after();
    over = {};
    extended = false;
  }
}

function entryOf(
  header: Buffer,
  kind: TarEntry["kind"],
  size: number,
  over: { readonly [key: string]: string },
): TarEntry {
  const isUstar = header.toString("latin1", 257, 263) === "ustar\0";
  const prefix = isUstar ? textIn(header, 345, 155) : "";
  const name = textIn(header, 0, 100);
  const number = (key: string, at: number) => (over[key] === undefined ? numberIn(header, at, 8) : whole(over[key]));
  return {
    kind,
    size,
    path: over["path"] ?? (prefix === "" ? name : `${prefix}/${name}`),
    target: over["linkpath"] ?? textIn(header, 157, 100),
    mode: numberIn(header, 100, 8) & 0o7777,
    uid: number("uid", 108),
    gid: number("gid", 116),
    mtime: over["mtime"] === undefined ? numberIn(header, 136, 12) : Math.trunc(Number(over["mtime"])) || 0,
  };
}

/** The sum of all bytes, those of the sum itself taken for spaces. */
function refuseDamage(header: Buffer): void {
  let sum = 0;
  for (const [at, byte] of header.entries()) sum += at >= 148 && at < 156 ? 0x20 : byte;
  if (numberIn(header, 148, 8) !== sum) throw damaged("has an entry whose checksum is wrong");
}

/** What counts here. The rest is left out unread, as extended attributes are: their values need not be text. */
const paxKeys = ["path", "linkpath", "size", "uid", "gid", "mtime"];

/** `length key=value\n`, again and again. */
function paxRecords(text: Buffer): { readonly [key: string]: string } {
  const records: { [key: string]: string } = {};
  for (let at = 0; at < text.length; ) {
    const space = text.indexOf(0x20, at);
    const length = space === -1 ? Number.NaN : Number(text.toString("latin1", at, space));
    const record = Number.isInteger(length) && length > 0 ? text.subarray(space + 1, at + length) : Buffer.alloc(0);
    const equals = record.indexOf(0x3d);
    if (equals === -1 || at + length > text.length) throw damaged("has a header that cannot be read");
    const key = record.toString("latin1", 0, equals);
    if (paxKeys.includes(key)) records[key] = utf8(record.subarray(equals + 1, record.length - 1));
    at += length;
  }
  return records;
}

/** Octal digits, or, with the highest bit, a number of 256. */
function numberIn(header: Buffer, at: number, length: number): number {
  const field = header.subarray(at, at + length);
  if (((field[0] ?? 0) & 0x80) !== 0) {
    const value = field.reduce((sum, byte, index) => sum * 256 + (index === 0 ? byte & 0x7f : byte), 0);
    if (!Number.isSafeInteger(value)) throw damaged("has a number that is too large");
    return value;
  }
  const text = field
    .toString("latin1")
    .replace(/[\0 ]+$/, "")
    .trim();
  if (!/^[0-7]*$/.test(text)) throw damaged("has a number that cannot be read");
  return text === "" ? 0 : Number.parseInt(text, 8);
}

function whole(text: string): number {
  if (!/^[0-9]{1,15}$/.test(text)) throw damaged("has a number that cannot be read");
  return Number(text);
}

function textIn(header: Buffer, at: number, length: number): string {
  const field = header.subarray(at, at + length);
  const end = field.indexOf(0);
  return utf8(end === -1 ? field : field.subarray(0, end));
}

function utf8(bytes: Buffer): string {
  const text = bytes.toString("utf8");
  if (Buffer.from(text, "utf8").equals(bytes)) return text;
  throw damaged(`has a name that is not UTF-8: ${printable(text).slice(0, 128)}`);
}

function damaged(why: string): VolumeError {
  return new VolumeError(
    "ContentRefused",
    "final",
    `a layer of the image ${why}: nothing of it is shown. Name another image`,
  );
}
