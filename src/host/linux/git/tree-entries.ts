import { printable } from "../../../api/values/printable.ts";
import { VolumeError } from "../../../errors.ts";

/** One entry of a tree. A submodule is an empty directory, as with git itself when nobody asks for it. */
export interface TreeEntry {
  readonly kind: "file" | "executable" | "link" | "submodule";
  readonly object: string;
  readonly size: number;
  /** Relative, of one or more names. */
  readonly path: string;
}

/** Most entries: their names are kept in memory. The Linux kernel has 90,000. */
export const mostEntries = 200_000;
const longestPath = 2048;
const longestName = 255;
/** Of one line of git ls-tree, in bytes: what is before the path takes about a hundred. */
const longestLine = 8 * 1024;
/** PATH_MAX, with its end. */
const longestLink = 4095;

const kinds: ReadonlyMap<string, TreeEntry["kind"]> = new Map([
  ["100644", "file"],
  ["100664", "file"], // of repositories from before 2005
  ["100755", "executable"],
  ["120000", "link"],
  ["160000", "submodule"],
]);

/**
 * What ends with a NUL, of what git prints. git may be anybody's: it may never print one.
 * @throws VolumeError ContentRefused
 */
export async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    rest = Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = rest.indexOf(0); end !== -1; end = rest.indexOf(0, start)) {
      yield rest.subarray(start, end);
      start = end + 1;
    }
    rest = rest.subarray(start);
    if (rest.length > longestLine) throw refused(rest.toString("utf8"), `is listed in more than ${longestLine} bytes`);
  }
}

/**
 * PURE. What one line of `git ls-tree -r -z -l` says: mode, type, object, size, tab, path.
 * @throws VolumeError ContentRefused
 */
export function entryOf(line: Buffer): TreeEntry {
  const text = line.toString("utf8");
  const [, mode = "", object = "", size = "", path = ""] =
    /^([0-7]{6}) (?:blob|commit) ([0-9a-f]+) +([0-9]+|-)\t(.*)$/s.exec(text) ?? [];
  const kind = kinds.get(mode);
  if (kind === undefined) throw refused(text, "is of a kind that is not known");
  if (!Buffer.from(text, "utf8").equals(line)) throw refused(path, "has a name that is not UTF-8");
  refusePath(path);
  const bytes = size === "-" ? 0 : Number(size);
  if (kind === "link" && bytes > longestLink) throw refused(path, "is a symbolic link that leads too far");
  return { kind, object, size: bytes, path };
}

/**
 * PURE. git refuses most of these when it fetches. They are looked at once more, for what is written is written by us;
 * and a directory .git, in any spelling that some file system takes for it, would be obeyed by whoever runs git in the
 * volume.
 * @throws VolumeError ContentRefused
 */
export function refusePath(path: string): void {
  if (Buffer.byteLength(path) > longestPath) throw refused(path, `has a path of more than ${longestPath} bytes`);
  for (const name of path.split("/")) {
    if (name === "" || name === "." || name === "..") throw refused(path, 'has a name that is empty, "." or ".."');
    if (name.includes("\0")) throw refused(path, "has a NUL in its name");
    if (Buffer.byteLength(name) > longestName) throw refused(path, `has a name of more than ${longestName} bytes`);
    if (/^(\.git|git~1)[. ]*(:.*)?$/i.test(name.replace(/\p{Cf}/gu, ""))) throw refused(path, 'has the name ".git"');
  }
}

/** PURE. The error about an entry of a commit that is not written. Retrying does not help: a commit does not change. */
export function refused(path: string, why: string): VolumeError {
  const message = `${printable(path).slice(0, 256)} in the repository ${why}: nothing of this commit is shown. Name another commit`;
  return new VolumeError("ContentRefused", "final", message);
}

/** PURE. Counts entries up to what is allowed. @throws VolumeError ContentTooLarge */
export function counted(sizeLimit: number): (entry: Pick<TreeEntry, "size">) => void {
  let entries = 0;
  let bytes = 0;
  return ({ size }) => {
    entries++;
    bytes += size;
    if (entries > mostEntries) throw tooLarge(`has more than ${mostEntries} files`);
    if (bytes > sizeLimit) throw tooLarge(`has files of more than ${sizeLimit} bytes`);
  };
}

/** @param what a predicate of the commit */
export function tooLarge(what: string): VolumeError {
  const message = `the commit ${what}: raise sizeLimit of the source, or name a smaller one, or a directory of it`;
  return new VolumeError("ContentTooLarge", "final", message);
}
