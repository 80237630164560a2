import { fchmodSync, fsyncSync } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { VolumeError } from "../../../errors.ts";
import type { UnpackRequest } from "../../ports/images.ts";
import { openDirectoryAt } from "../path/held-tree.ts";
import { ByteStream, EndsEarly } from "../syscall/byte-stream.ts";
import { AT_FDCWD, O, RESOLVE } from "../syscall/constants.ts";
import { Descriptor } from "../syscall/descriptor.ts";
import type { Libc } from "../syscall/libc.ts";
import { loadSandboxCalls } from "../syscall/sandbox-calls.ts";
import type { BlobSource } from "./blob-source.ts";
import { corruptLayer } from "./corrupt-layer.ts";
import { decompressed } from "./decompressed.ts";
import { LayerWriter } from "./layer-writer.ts";
import { LayoutDirectory } from "./layout-directory.ts";
import { type Layer, manifestTypes, type NamedImage, readManifest } from "./manifest.ts";
import { parseReference } from "./reference.ts";
import { Registry } from "./registry.ts";
import { readTar } from "./tar/tar.ts";

const mostIndexes = 4;

/**
 * Shows an image as files (Images.unpack), in a disposable child that was started confined (start-confined.ts,
 * image-sandbox.ts):
 *
 *   directory/       ours (0700)
 *     new/           the layers, one over the other, as they come: no blob is kept
 *     tree/          new/, renamed once it is complete, was what its digests say, and is on the disk
 */
export async function unpackImage(libc: Libc, request: UnpackRequest, tell: (line: string) => void): Promise<void> {
  const calls = loadSandboxCalls();
  const { image, source } = begin(libc, request);
  process.umask(0o022);
  using directory = new Descriptor(
    libc.openat2(AT_FDCWD, request.directory, O.RDONLY | O.DIRECTORY | O.CLOEXEC, 0, RESOLVE.NO_SYMLINKS),
  );
  libc.mkdirat(directory.fd, "new", 0o700);
  using fresh = openDirectoryAt(libc, directory, "new");
  const layers = await layersOf(source, image);
  refusePadded(layers, request.sizeLimit);
  const room = counting(request.sizeLimit);
  const writer = new LayerWriter(libc, calls, fresh, room);
  for (const [index, layer] of layers.entries()) {
    const progress = (bytes: number) => tell(`layer ${index + 1} of ${layers.length}, ${bytes} bytes`);
    await writer.layer(() => writeLayer(source, layer, writer, room, progress));
  }
  fchmodSync(fresh.fd, 0o755);
  calls.syncfs(fresh.fd);
  libc.renameFree(directory.fd, "new", directory.fd, "tree");
  fsyncSync(directory.fd);
}

/** What is asked for, and whom. @throws VolumeError SourceNotFound */
function begin(libc: Libc, { from }: UnpackRequest): { image: NamedImage; source: BlobSource } {
  if ("layout" in from) {
    const image = { repository: from.layout.path, digest: from.digest };
    return { image, source: new LayoutDirectory(libc, from.layout) };
  }
  const { authorities, authorization } = from.access ?? {};
  if (authorities !== undefined) setDefaultCACertificates([...getCACertificates("default"), authorities]);
  const image = parseReference(from.reference, authorities !== undefined);
  return { image, source: new Registry(image, authorization) };
}

/** An index may name another one. */
async function layersOf(source: BlobSource, image: NamedImage): Promise<readonly Layer[]> {
  let { digest } = image;
  for (let indexes = 0; indexes <= mostIndexes; indexes++) {
    const found = readManifest(await source.manifest(digest, manifestTypes), process.arch, { ...image, digest });
    if ("layers" in found) return found.layers;
    digest = found.manifest;
  }
  const message = `${image.repository}@${image.digest} has more than ${mostIndexes} indexes in one another: name an image`;
  throw new VolumeError("ContentRefused", "final", message);
}

/** What compression adds at most: a few bytes a block, a header, and the table of contents of zstd:chunked. */
const [addedPart, addedBytes] = [1.01, 1024 * 1024];

/**
 * Frames that are skipped, and empty members, are fetched and never unpacked: sizeLimit would not end them.
 * @throws VolumeError ContentTooLarge
 */
function refusePadded(layers: readonly Layer[], sizeLimit: number): void {
  const fetched = layers.reduce((sum, { size }) => sum + size, 0);
  if (fetched <= sizeLimit * addedPart + addedBytes) return;
  const message = `the layers of the image are ${fetched} bytes to fetch, more than the ${sizeLimit} that they may have unpacked: raise sizeLimit of the source, or name a smaller one`;
  throw new VolumeError("ContentTooLarge", "final", message);
}

async function writeLayer(
  source: BlobSource,
  { digest, size }: Layer,
  writer: LayerWriter,
  room: (bytes: number) => number,
  progress: (bytes: number) => void,
): Promise<void> {
  const blob = await source.blob(digest, size);
  try {
    await pipeline(Readable.from(blob), decompressed, async (bytes: AsyncIterable<Buffer>) => {
      await readTar(new ByteStream(counted(bytes, room, progress)), (entry, read) => {
        room(entry.holes);
        return writer.write(entry, read);
      });
    });
  } catch (error) {
    throw isDamage(error) ? notWhole(digest) : error;
  }
  if (!blob.whole) throw notWhole(digest);
}

async function* counted(
  source: AsyncIterable<Buffer>,
  room: (bytes: number) => number,
  progress: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  for await (const chunk of source) {
    progress(room(chunk.length));
    yield chunk;
  }
}

/**
 * All bytes that layers have, unpacked, with what is never written and with holes.
 * @throws VolumeError ContentTooLarge
 */
function counting(sizeLimit: number): (bytes: number) => number {
  let all = 0;
  return (bytes) => {
    all += bytes;
    if (all <= sizeLimit) return all;
    const message = `the image has more than ${sizeLimit} bytes, unpacked: raise sizeLimit of the source, or name a smaller one`;
    throw new VolumeError("ContentTooLarge", "final", message);
  };
}

/** What is said of something that is not what it should be, by zlib for one. */
function isDamage(error: unknown): boolean {
  if (error instanceof EndsEarly) return true;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return code.startsWith("Z_") || code.startsWith("ZSTD_");
}

function notWhole(digest: string): VolumeError {
  return corruptLayer(`(${digest}) is damaged, or has something after its end`);
}
