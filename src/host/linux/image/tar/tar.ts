import type { ByteStream } from "../../syscall/byte-stream.ts";
import { corruptLayer } from "../corrupt-layer.ts";
import { type Pax, readPax } from "./pax.ts";
import { readSparse } from "./sparse.ts";
import { inRange, nanosecondsOf, numberIn, textIn, timeOf, whole } from "./tar-fields.ts";

/** One entry of an archive. */
export interface TarEntry {
  readonly kind: "file" | "directory" | "link" | "hardLink" | "leftOut";
  readonly path: string;
  /** Where a link leads, or which file a hard link is one more name of. */
  readonly target: string;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** Nanoseconds since 1970. */
  readonly mtime: bigint;
  /** Bytes of a file, its holes counted. */
  readonly size: number;
  /** How many of these bytes the archive does not have: they are zeros. */
  readonly holes: number;
}

/** Tells of the bytes of an entry, once, and where in the file each piece is. */
export type ReadEntry = (take: (piece: Buffer, at: number) => void) => Promise<void>;

const block = 512;
const largestHeader = 1024 * 1024;
/** 2^32 - 1 is no owner: chown(2) would leave the file root's. */
const largestID = 2 ** 32 - 2;

/** Device nodes and FIFOs are left out: a volume is to be no more than data. A volume label of GNU tar is no file. */
const kinds: ReadonlyMap<string, TarEntry["kind"]> = new Map([
  ["0", "file"],
  ["\0", "file"],
  ["7", "file"],
  ["S", "file"],
  ["1", "hardLink"],
  ["2", "link"],
  ["3", "leftOut"],
  ["4", "leftOut"],
  ["5", "directory"],
  ["6", "leftOut"],
  ["V", "leftOut"],
]);

/** What headers say of the entry after them. */
interface Ahead {
  readonly pax?: Pax;
  readonly path?: string;
  readonly target?: string;
}

/**
 * Reads an archive as Go's archive/tar does, which unpacks images elsewhere: V7, ustar, pax, GNU tar and star, with
 * sparse files. It ends with two blocks of zeros; what is behind them is read, and is no entry. What a global header of
 * pax says counts for nothing, as there.
 */
export async function readTar(
  bytes: ByteStream,
  each: (entry: TarEntry, read: ReadEntry) => Promise<void>,
): Promise<void> {
  let ahead: Ahead = {};
  for (let header = await nextHeader(bytes); header !== undefined; header = await nextHeader(bytes)) {
    const type = String.fromCharCode(header[156] ?? 0);
    if ("xXgLK".includes(type)) {
      ahead = await withHeader(ahead, type, header, bytes);
      continue;
    }
    const kind = kinds.get(type);
    if (kind === undefined) throw corruptLayer(`has an entry of the type ${JSON.stringify(type)}, which is not known`);
    await readEntry(header, kind, ahead, bytes, each);
    ahead = {};
  }
  while ((await bytes.atMost(65_536)).length > 0);
}

/** @returns undefined at the end */
async function nextHeader(bytes: ByteStream): Promise<Buffer | undefined> {
  const header = await bytes.block(block);
  if (header === undefined || header.some((byte) => byte !== 0)) {
    if (header !== undefined) refuseDamage(header);
    return header;
  }
  const next = await bytes.block(block);
  if (next === undefined || next.every((byte) => byte === 0)) return undefined;
  throw corruptLayer("has a block of zeros between its entries");
}

/** A header of its own size, whatever the one before it says of the entry that comes. */
async function withHeader(ahead: Ahead, type: string, header: Buffer, bytes: ByteStream): Promise<Ahead> {
  const size = inRange(numberIn(header, 124, 12), Number.MAX_SAFE_INTEGER, "size");
  if (size > largestHeader) throw corruptLayer("has a header that is too large");
  const text = size === 0 ? Buffer.alloc(0) : await bytes.whole(size);
  await skip(bytes, padding(size));
  if (type === "g") return ahead;
  if (type === "L") return { ...ahead, path: textIn(text, 0, text.length) };
  if (type === "K") return { ...ahead, target: textIn(text, 0, text.length) };
  if (ahead.pax !== undefined) throw corruptLayer("has two extended headers for one entry");
  return { ...ahead, pax: readPax(text) };
}

async function readEntry(
  header: Buffer,
  kind: TarEntry["kind"],
  ahead: Ahead,
  bytes: ByteStream,
  each: (entry: TarEntry, read: ReadEntry) => Promise<void>,
): Promise<void> {
  const entry = entryOf(header, kind, ahead);
  const has = entry.kind === "file" ? entry.size : 0; // of anything else the size counts for nothing
  const sparse = entry.kind === "file" ? await readSparse(header, ahead.pax ?? new Map(), has, bytes) : undefined;
  let { size, pieces, stored } = sparse ?? { size: has, pieces: [{ at: 0, length: has }], stored: has };
  await each({ ...entry, size, holes: size - stored }, async (take) => {
    for (const { at, length } of pieces) {
      let to = at;
      await bytes.each(length, (piece) => {
        take(piece, to);
        to += piece.length;
      });
    }
    [pieces, stored] = [[], 0];
  });
  await skip(bytes, stored);
  await skip(bytes, padding(has));
}

function entryOf(header: Buffer, kind: TarEntry["kind"], { pax, path, target }: Ahead): Omit<TarEntry, "holes"> {
  const name = pax?.get("GNU.sparse.name") || path || pax?.get("path") || nameIn(header);
  const number = (key: string, at: number, length: number) => {
    const value = pax?.get(key);
    return value === undefined ? numberIn(header, at, length) : whole(value);
  };
  const time = pax?.get("mtime");
  return {
    kind: header[156] === 0 && name.endsWith("/") ? "directory" : kind, // V7 has no other way to say so
    size: inRange(number("size", 124, 12), Number.MAX_SAFE_INTEGER, "size"),
    path: name,
    target: target || pax?.get("linkpath") || textIn(header, 157, 100),
    mode: inRange(numberIn(header, 100, 8), Number.MAX_SAFE_INTEGER, "mode") & 0o7777,
    uid: inRange(number("uid", 108, 8), largestID, "uid"),
    gid: inRange(number("gid", 116, 8), largestID, "gid"),
    mtime: time === undefined ? nanosecondsOf(numberIn(header, 136, 12)) : timeOf(time),
  };
}

/**
 * The prefix of ustar is that of star, too, but for its last 24 bytes. GNU tar has times there, for which Go before
 * 1.8, and so Docker of those days, wrote a prefix.
 */
function nameIn(header: Buffer): string {
  const name = textIn(header, 0, 100);
  const magic = header.toString("latin1", 257, 263);
  const isTime = /^(?:[\x80-\xff]|[ \0]*[0-7]*(?:[ \0]|$))/.test(header.toString("latin1", 345, 357));
  if (magic !== "ustar\0" && !(magic === "ustar " && !isTime)) return name;
  const prefix = textIn(header, 345, header.toString("latin1", 508, 512) === "tar\0" ? 131 : 155);
  return prefix === "" ? name : `${prefix}/${name}`;
}

/** The sum of all bytes, those of the sum itself taken for spaces. Old programs sum up signed bytes. */
function refuseDamage(header: Buffer): void {
  let unsigned = 0;
  let signed = 0;
  for (const [at, byte] of header.entries()) {
    const counts = at >= 148 && at < 156 ? 0x20 : byte;
    unsigned += counts;
    signed += counts > 127 ? counts - 256 : counts;
  }
  const sum = numberIn(header, 148, 8);
  if (sum !== BigInt(unsigned) && sum !== BigInt(signed)) throw corruptLayer("has an entry whose checksum is wrong");
}

function padding(size: number): number {
  return (block - (size % block)) % block;
}

async function skip(bytes: ByteStream, count: number): Promise<void> {
  await bytes.each(count, () => {});
}
