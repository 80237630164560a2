import { createHash } from "node:crypto";
import { VolumeError } from "../../../errors.ts";

/** No manifest that makes sense has more. */
export const largestManifest = 4 * 1024 * 1024;

/** Where an image comes from. Nothing that comes is believed but by its digest. */
export interface BlobSource {
  /** @param types media types that are understood. @throws VolumeError */
  manifest(digest: string, types: readonly string[]): Promise<Buffer>;
  /** @param size that the manifest says it has. @throws VolumeError */
  blob(digest: string, size: number): Promise<Blob>;
}

/** What is fetched, as it comes; `whole` is true once all of it has come and is what its digest says. */
export interface Blob extends AsyncIterable<Buffer> {
  readonly whole: boolean;
}

/** The same bytes, that have this digest. @throws VolumeError ContentRefused at the end if not */
export async function* verified(pieces: AsyncIterable<Buffer>, digest: string): AsyncGenerator<Buffer> {
  const hash = createHash("sha256");
  for await (const piece of pieces) {
    hash.update(piece);
    yield piece;
  }
  if (`sha256:${hash.digest("hex")}` === digest) return;
  throw new VolumeError(
    "ContentRefused",
    "final",
    `the content received has not the digest ${digest}: check the registry or proxy that served it, or name another image`,
  );
}

/** A blob whose digest is checked while it is read: the last piece comes only if it fits. */
export class VerifiedBlob implements Blob {
  readonly #source: AsyncGenerator<Buffer>;
  whole = false;

  constructor(pieces: AsyncIterable<Buffer>, digest: string) {
    this.#source = verified(pieces, digest);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    yield* this.#source;
    this.whole = true;
  }
}

/** All of what is small. */
export async function allOf(pieces: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all);
}
