import { gzipSync } from "node:zlib";
import { tarOf } from "../lib/kubelet-node/tar.ts";

export interface ArchiveFile {
  readonly content: string | Buffer;
  readonly executable?: true;
}

/** Of a name, as the format has room for it. */
const longestName = 100;

/**
 * PURE. A .tar.gz that says nothing of when, where and by whom it was made: sorted, of 1970, of root.
 * @param files by their paths in it
 * @throws Error if a path is too long for it
 */
export function archiveOf(files: ReadonlyMap<string, ArchiveFile>): Buffer {
  const names = [...files.keys()].sort();
  const entries = names.map((name) => {
    if (Buffer.byteLength(name) > longestName) throw new Error(`${name} is too long for an archive`);
    const { content, executable } = files.get(name) as ArchiveFile;
    return { name, content: Buffer.from(content), ...(executable && { executable }) };
  });
  return gzipSync(tarOf(entries), { level: 9 });
}
