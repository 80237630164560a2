import { createGunzip, createZstdDecompress, type Gunzip, type ZstdDecompress } from "node:zlib";
import { ByteStream } from "../syscall/byte-stream.ts";
import { corruptLayer } from "./corrupt-layer.ts";

/** Bytes given to zlib at once. */
const most = 65_536;

const isGzip = (head: Buffer) => head[0] === 0x1f && head[1] === 0x8b;

/**
 * A frame of zstd, or one that is to be skipped (RFC 8878, 3.1): zstd:chunked has its table of contents in such frames.
 */
function isZstd(head: Buffer): boolean {
  if (head.length < 4) return false;
  const magic = head.readUInt32LE(0);
  return magic === 0xfd2fb528 || magic >>> 4 === 0x184d2a5;
}

/**
 * The archive that a layer is, by what its bytes are: media types are wrong now and then, and containerd goes by the
 * bytes, too. All members of gzip, and all frames of zstd, are read: builders that compress in parallel, or one file at
 * a time, write many.
 */
export async function* decompressed(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const input = new ByteStream(source);
  const head = await input.ahead(4);
  if (isGzip(head)) yield* members(input, createGunzip);
  else if (isZstd(head)) yield* members(input, createZstdDecompress);
  else for (let piece = await input.atMost(most); piece.length > 0; piece = await input.atMost(most)) yield piece;
}

async function* members(input: ByteStream, engine: () => Gunzip | ZstdDecompress): AsyncGenerator<Buffer> {
  for (let head = await input.ahead(1); head.length > 0; head = await input.ahead(1)) {
    if (head[0] === 0) return await refuseAllButZeros(input); // no member begins so
    yield* member(input, engine());
  }
}

/** What one engine takes. It leaves what it does not begin by itself: another frame, or what is no member at all. */
async function* member(input: ByteStream, engine: Gunzip | ZstdDecompress): AsyncGenerator<Buffer> {
  const fed = feed(input, engine).catch((error: Error) => void engine.destroy(error));
  for await (const piece of engine) yield piece;
  await fed;
}

async function feed(input: ByteStream, engine: Gunzip | ZstdDecompress): Promise<void> {
  for (let piece = await input.atMost(most); piece.length > 0; piece = await input.atMost(most)) {
    const before = engine.bytesWritten;
    await new Promise<void>((done, failed) => engine.write(piece, (error) => (error ? failed(error) : done())));
    const taken = engine.bytesWritten - before;
    if (taken === piece.length) continue;
    input.giveBack(piece.subarray(taken));
    break;
  }
  engine.end();
}

/** gzip(1) takes zeros after the last member for padding, and so do tapes. */
async function refuseAllButZeros(input: ByteStream): Promise<void> {
  for (let piece = await input.atMost(most); piece.length > 0; piece = await input.atMost(most)) {
    if (piece.some((byte) => byte !== 0)) throw corruptLayer("has something after its end");
  }
}
