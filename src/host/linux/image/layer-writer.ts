import { fchmodSync, fchownSync, futimesSync, lchownSync, writeSync } from "node:fs";
import { printable } from "../../../api/printable.ts";
import { VolumeError } from "../../../errors.ts";
import { AT_SYMLINK_NOFOLLOW, O, RESOLVE, S_IFMT } from "../constants.ts";
import { Descriptor } from "../descriptor.ts";
import { errnoOf } from "../errno.ts";
import { namesIn, openDirectoryAt, openFileAt, removeTreeAt } from "../held-tree.ts";
import type { Libc } from "../libc.ts";
import type { SandboxCalls } from "../sandbox-calls.ts";
import type { ReadEntry, TarEntry } from "./tar.ts";
import { WrittenNames } from "./written-names.ts";

/** Most entries of all layers together, and directories that they imply. */
export const mostEntries = 1_000_000;

const mostSegments = 256;
const directoryType = 0o040000;
const whiteout = ".wh.";
const opaque = ".wh..wh..opq";

/** Stays in the root, whatever links say: to a link, the root of the image is the root directory. */
const inRoot = RESOLVE.IN_ROOT | RESOLVE.NO_MAGICLINKS;

/**
 * Writes layers, one over the other, into an empty directory that nobody else has. Links of the image are followed as the image
 * means them, and lead nowhere else. Owners and modes are those of the image; device nodes and extended attributes are left out.
 */
export class LayerWriter {
  readonly #libc: Libc;
  readonly #calls: SandboxCalls;
  readonly #root: Descriptor;
  readonly #most: number;
  /** What this layer has, and all that is above it: its whiteouts are for the layers beneath. */
  #written = new WrittenNames();
  #entries = 0;

  constructor(libc: Libc, calls: SandboxCalls, root: Descriptor, most = mostEntries) {
    this.#libc = libc;
    this.#calls = calls;
    this.#root = root;
    this.#most = most;
  }

  beginLayer(): void {
    this.#written = new WrittenNames();
  }

  /** @throws VolumeError ContentRefused, ContentTooLarge */
  async write(entry: TarEntry, read: ReadEntry): Promise<void> {
    this.#refuseMore(++this.#entries);
    const segments = cleaned(entry.path);
    const name = segments.pop();
    if (name === undefined || entry.kind === "leftOut") return; // the root is ours
    try {
      using parent = this.#open(segments);
      if (name === opaque) this.#clear(parent, segments);
      else if (name.startsWith(whiteout)) this.#whiteOut(parent, segments, name.slice(whiteout.length));
      else await this.#make(parent, name, entry, read);
    } catch (error) {
      throw meant(entry.path, error);
    }
    this.#written.add([...segments, name]);
    this.#refuseMore(this.#written.size); // by links there are any number of names for one directory
  }

  #refuseMore(entries: number): void {
    if (entries <= this.#most) return;
    const message = `the image has more than ${this.#most} entries, with the directories that they imply: name a smaller one`;
    throw new VolumeError("ContentTooLarge", "final", message);
  }

  async #make(parent: Descriptor, name: string, entry: TarEntry, read: ReadEntry): Promise<void> {
    const { kind, mode, uid, gid, mtime } = entry;
    const there = this.#typeOf(parent, name);
    if (there !== undefined && (kind !== "directory" || there !== directoryType)) this.#remove(parent, name, there);
    if (kind === "directory") {
      if (there !== directoryType) this.#libc.mkdirat(parent.fd, name, 0o700);
      using made = openDirectoryAt(this.#libc, parent, name);
      fchownSync(made.fd, uid, gid);
      fchmodSync(made.fd, mode);
    } else if (kind === "file") {
      using file = openFileAt(this.#libc, parent, name, "make");
      await read((piece) => {
        for (let done = 0; done < piece.length; ) done += writeSync(file.fd, piece, done);
      });
      fchownSync(file.fd, uid, gid);
      fchmodSync(file.fd, mode);
      futimesSync(file.fd, mtime, mtime);
    } else if (kind === "link") {
      if (entry.target === "" || entry.target.includes("\0"))
        throw refused(entry.path, "is a symbolic link to nothing");
      this.#calls.symlinkat(entry.target, parent.fd, name);
      lchownSync(`${parent.path}/${name}`, uid, gid);
    } else {
      const target = cleaned(entry.target);
      const file = target.pop() ?? "";
      using from = this.#openThere(target);
      this.#calls.linkat(from.fd, file, parent.fd, name);
    }
  }

  #whiteOut(parent: Descriptor, segments: readonly string[], name: string): void {
    if (name === "" || name === "." || name === "..") throw refused(whiteout + name, "takes nothing away");
    if (this.#written.has([...segments, name])) return;
    const there = this.#typeOf(parent, name);
    if (there !== undefined) this.#remove(parent, name, there);
  }

  /** Takes away all that layers beneath have put into a directory. */
  #clear(parent: Descriptor, segments: readonly string[]): void {
    for (const name of namesIn(parent)) this.#whiteOut(parent, segments, name);
  }

  #remove(parent: Descriptor, name: string, type: number): void {
    removeTreeAt(this.#libc, parent, { name, isDirectory: () => type === directoryType });
  }

  #typeOf(parent: Descriptor, name: string): number | undefined {
    try {
      return this.#libc.statx(parent.fd, name, AT_SYMLINK_NOFOLLOW).mode & S_IFMT;
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return undefined;
      throw error;
    }
  }

  /** A directory, made with all that is missing above it, as archives need not name each. */
  #open(segments: readonly string[]): Descriptor {
    try {
      return this.#openThere(segments);
    } catch (error) {
      const name = segments.at(-1);
      if (errnoOf(error) !== "ENOENT" || name === undefined) throw error;
      using above = this.#open(segments.slice(0, -1));
      this.#refuseMore(++this.#entries);
      this.#libc.mkdirat(above.fd, name, 0o755);
      return this.#openThere(segments);
    }
  }

  #openThere(segments: readonly string[]): Descriptor {
    const flags = O.RDONLY | O.DIRECTORY | O.CLOEXEC;
    return new Descriptor(this.#libc.openat2(this.#root.fd, segments.join("/") || ".", flags, 0, inRoot));
  }
}

/** The names of a path from the root of the image. @throws VolumeError ContentRefused */
function cleaned(path: string): string[] {
  if (Buffer.byteLength(path) > 4096) throw refused(path, "has a path of more than 4096 bytes");
  const segments = path.split("/").filter((name) => name !== "" && name !== ".");
  if (segments.length > mostSegments) throw refused(path, `has a path of more than ${mostSegments} names`);
  for (const name of segments) {
    if (name === "..") throw refused(path, 'has the name ".." in its path');
    if (name.includes("\0")) throw refused(path, "has a NUL in its name");
    if (Buffer.byteLength(name) > 255) throw refused(path, "has a name of more than 255 bytes");
  }
  return segments;
}

function refused(path: string, why: string): VolumeError {
  const message = `${printable(path).slice(0, 256)} in the image ${why}: nothing of it is shown. Name another image`;
  return new VolumeError("ContentRefused", "final", message);
}

/** What the kernel says of an entry that cannot be: beneath a file, through a link in circles, another name of nothing. */
const impossible = [
  "EEXIST",
  "ENOTDIR",
  "ELOOP",
  "EXDEV",
  "EISDIR",
  "ENOENT",
  "EPERM",
  "EINVAL",
  "ENAMETOOLONG",
  "EMLINK",
];

function meant(path: string, error: unknown): unknown {
  const code = errnoOf(error) ?? "";
  if (impossible.includes(code)) return refused(path, `cannot be written as the image says (${code})`);
  if (code === "ENOSPC" || code === "EDQUOT") {
    return new VolumeError("SetUpFailed", "transient", "the disk of the state directory is full: make room on it");
  }
  return error;
}
