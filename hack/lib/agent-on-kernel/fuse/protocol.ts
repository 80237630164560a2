/** The part of the FUSE protocol that the test server speaks (include/uapi/linux/fuse.h, 7.31). Pure. */

export const opcodes = {
  LOOKUP: 1,
  FORGET: 2,
  GETATTR: 3,
  SETATTR: 4,
  MKNOD: 8,
  MKDIR: 9,
  UNLINK: 10,
  RMDIR: 11,
  OPEN: 14,
  READ: 15,
  STATFS: 17,
  RELEASE: 18,
  FLUSH: 25,
  INIT: 26,
  OPENDIR: 27,
  READDIR: 28,
  RELEASEDIR: 29,
  ACCESS: 34,
  CREATE: 35,
  INTERRUPT: 36,
  DESTROY: 38,
  BATCH_FORGET: 42,
} as const;

export const errno = { ENOENT: 2, EIO: 5, EEXIST: 17, ENOTDIR: 20, ENOTEMPTY: 39, ENOSYS: 38 } as const;

/** A request as the kernel wrote it. */
export interface FuseRequest {
  readonly opcode: number;
  /** What the answer names. */
  readonly unique: bigint;
  readonly node: bigint;
  /** The process that waits for the answer. */
  readonly pid: number;
  readonly body: Buffer;
}

/** What the kernel is told of a file. */
export interface FuseAttributes {
  readonly node: bigint;
  readonly mode: number;
  readonly size: number;
}

const inHeader = 40;
const outHeader = 16;

export function parseRequest(message: Buffer): FuseRequest {
  return {
    opcode: message.readUInt32LE(4),
    unique: message.readBigUInt64LE(8),
    node: message.readBigUInt64LE(16),
    pid: message.readUInt32LE(32),
    body: Buffer.from(message.subarray(inHeader)),
  };
}

/** An answer: a body, or the number of an error. */
export function answer(unique: bigint, result: Buffer | number): Buffer {
  const body = typeof result === "number" ? Buffer.alloc(0) : result;
  const message = Buffer.alloc(outHeader + body.length);
  message.writeUInt32LE(message.length, 0);
  message.writeInt32LE(typeof result === "number" ? -result : 0, 4);
  message.writeBigUInt64LE(unique, 8);
  body.copy(message, outHeader);
  return message;
}

/** A name that ends with a zero byte, from `start`. */
export function nameIn(body: Buffer, start = 0): string {
  return body.toString("utf8", start, body.indexOf(0, start));
}

export function initAnswer(body: Buffer): Buffer {
  const out = Buffer.alloc(64);
  out.writeUInt32LE(7, 0);
  out.writeUInt32LE(31, 4);
  out.writeUInt32LE(body.readUInt32LE(8), 8); // max_readahead: as it was offered
  out.writeUInt16LE(64, 16); // max_background
  out.writeUInt16LE(48, 18); // congestion_threshold
  out.writeUInt32LE(4096, 20); // max_write
  return out;
}

/** Nothing holds for any time: the kernel asks again at each access, so that each access can hang. */
export function entryAnswer(attributes: FuseAttributes): Buffer {
  const out = Buffer.alloc(128);
  out.writeBigUInt64LE(attributes.node, 0);
  writeAttributes(out, 40, attributes);
  return out;
}

export function attributesAnswer(attributes: FuseAttributes): Buffer {
  const out = Buffer.alloc(104);
  writeAttributes(out, 16, attributes);
  return out;
}

/** No file handle: the node says it all. */
export function openAnswer(): Buffer {
  return Buffer.alloc(16);
}

export function statfsAnswer(): Buffer {
  const out = Buffer.alloc(80);
  out.writeUInt32LE(4096, 40);
  out.writeUInt32LE(255, 44);
  out.writeUInt32LE(4096, 48);
  return out;
}

export interface DirectoryEntry {
  readonly name: string;
  readonly node: bigint;
  readonly mode: number;
}

/** Entries from the one at `offset` on, as many as fit. */
export function directoryAnswer(entries: readonly DirectoryEntry[], offset: number, size: number): Buffer {
  const parts: Buffer[] = [];
  let length = 0;
  for (const [index, { name, node, mode }] of entries.entries()) {
    if (index < offset) continue;
    const bytes = Buffer.from(name);
    const part = Buffer.alloc(Math.ceil((24 + bytes.length) / 8) * 8);
    part.writeBigUInt64LE(node, 0);
    part.writeBigUInt64LE(BigInt(index + 1), 8);
    part.writeUInt32LE(bytes.length, 16);
    part.writeUInt32LE(mode >> 12, 20);
    bytes.copy(part, 24);
    if (length + part.length > size) break;
    parts.push(part);
    length += part.length;
  }
  return Buffer.concat(parts);
}

function writeAttributes(out: Buffer, at: number, { node, mode, size }: FuseAttributes): void {
  out.writeBigUInt64LE(node, at);
  out.writeBigUInt64LE(BigInt(size), at + 8);
  out.writeUInt32LE(mode, at + 60);
  out.writeUInt32LE(1, at + 64); // nlink
  out.writeUInt32LE(4096, at + 80); // blksize
}
