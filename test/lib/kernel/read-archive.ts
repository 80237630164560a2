import { readTar, type TarEntry } from "../../../src/host/linux/image/tar/tar.ts";
import { ByteStream } from "../../../src/host/linux/syscall/byte-stream.ts";
import { type RawTarEntry, tarOf } from "../servers/contract-registry.ts";

/** In pieces of some bytes, as they come from a network. */
export async function* pieces(bytes: Buffer, length: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

export async function read(archive: Buffer, length = 700): Promise<(TarEntry & { content: string })[]> {
  const found: (TarEntry & { content: string })[] = [];
  await readTar(new ByteStream(pieces(archive, length)), async (entry, each) => {
    let content = "";
    if (entry.path !== "skipped") {
      await each((piece, at) => (content = content.padEnd(at, ".") + piece.toString("latin1")));
      content = content.padEnd(entry.size, ".");
    }
    found.push({ ...entry, content });
  });
  return found;
}

/** Why an archive cannot be read. */
export const failure = async (archive: Buffer) =>
  read(archive).then(
    () => "read",
    (error: { reason?: string; name: string }) => error.reason ?? error.name,
  );

/** Changes a header of tar at some byte. */
export const at = (offset: number, bytes: string | readonly number[]) => (header: Buffer) =>
  void Buffer.from(bytes as string, "latin1").copy(header, offset);
/** The first entry of an archive of these. */
export const one = async (...entries: readonly RawTarEntry[]) => (await read(tarOf(...entries)))[0];
