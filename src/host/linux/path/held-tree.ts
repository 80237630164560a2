import { isUtf8 } from "node:buffer";
import { type Dirent, lstatSync, opendirSync, readdirSync, renameSync, rmdirSync, unlinkSync } from "node:fs";
import { O, RESOLVE } from "../syscall/constants.ts";
import { Descriptor } from "../syscall/descriptor.ts";
import { unlessErrno } from "../syscall/errno.ts";
import type { Libc } from "../syscall/libc.ts";
import { makeDirectoryAt } from "./walk.ts";

/** Nothing that is reached by a name beneath a held directory lies anywhere else. */
const beneath = RESOLVE.BENEATH | RESOLVE.NO_SYMLINKS | RESOLVE.NO_MAGICLINKS;

/**
 * A directory by its path beneath another.
 * @param mounts whether what is mounted on the way may be entered
 * @throws Errno ELOOP, EXDEV, ENOTDIR, ENOENT
 */
export function openDirectoryAt(
  libc: Libc,
  above: Descriptor,
  path: string,
  mounts: "enter" | "refuse" = "enter",
): Descriptor {
  const resolve = mounts === "enter" ? beneath : beneath | RESOLVE.NO_XDEV;
  return new Descriptor(libc.openat2(above.fd, path, O.RDONLY | O.DIRECTORY | O.CLOEXEC, 0, resolve));
}

/** A file beneath a held directory. @throws Errno, EEXIST if it is to be made and is there */
export function openFileAt(libc: Libc, above: Descriptor, path: string, how: keyof typeof howToOpen): Descriptor {
  const flags = howToOpen[how] | O.NOFOLLOW | O.CLOEXEC;
  return new Descriptor(libc.openat2(above.fd, path, flags, how === "make" ? 0o600 : 0, beneath));
}

const howToOpen = { read: O.RDONLY | O.NONBLOCK, append: O.WRONLY | O.NONBLOCK, make: O.WRONLY | O.CREAT | O.EXCL };

/** Makes the directories of a path that are missing. @returns the last of them */
export function makeDirectoriesAt(libc: Libc, above: Descriptor, path: string, mode: number): Descriptor {
  let current = openDirectoryAt(libc, above, ".");
  for (const segment of path.split("/").filter(Boolean)) {
    using parent = current;
    makeDirectoryAt(libc, parent, segment, mode);
    current = openDirectoryAt(libc, parent, segment);
  }
  return current;
}

/**
 * Removes what has this name, with all that is in it; no link is followed and no mount entered. What is not there is no
 * error. Directories may be deeper than files can be open: at most two are at a time (TreeEmptier).
 * @throws Errno EXDEV, EBUSY: something is mounted there, and stays
 */
export function removeTreeAt(libc: Libc, above: Descriptor, entry: Pick<Dirent, "name" | "isDirectory">): void {
  const path = `${above.path}/${entry.name}`;
  unlessMissing(() => {
    if (!entry.isDirectory()) return unlinkSync(path);
    using directory = openDirectoryAt(libc, above, entry.name, "refuse");
    new TreeEmptier(libc, directory).empty();
    rmdirSync(path);
  });
}

/**
 * Empties a directory, whatever bytes the names in it are. A directory in a directory of it is first moved up into it,
 * under a name of ours: a mount point does not move.
 */
class TreeEmptier {
  readonly #libc: Libc;
  readonly #directory: Descriptor;
  #sequence = 0;

  constructor(libc: Libc, directory: Descriptor) {
    this.#libc = libc;
    this.#directory = directory;
  }

  /** Each pass takes the uppermost level away: at most one for each, and one more for names that are no text. */
  empty(): void {
    for (;;) {
      const entries = entriesIn(this.#directory);
      if (entries.length === 0) return;
      for (const entry of entries) unlessMissing(() => this.#remove(entry));
    }
  }

  #remove(entry: Dirent<Buffer>): void {
    const path = pathAt(this.#directory, entry.name);
    if (!entry.isDirectory()) {
      unlinkSync(path);
      return;
    }
    if (!isUtf8(entry.name)) {
      this.#moveUp(path);
      return;
    }
    using inner = openDirectoryAt(this.#libc, this.#directory, entry.name.toString(), "refuse");
    for (const deeper of entriesIn(inner)) {
      const beneath = pathAt(inner, deeper.name);
      unlessMissing(() => (deeper.isDirectory() ? this.#moveUp(beneath) : unlinkSync(beneath)));
    }
    rmdirSync(path);
  }

  /** What is removed may have such names itself. */
  #moveUp(from: Buffer): void {
    let to: string;
    do to = `${this.#directory.path}/..deep.${this.#sequence++}`;
    while (lstatSync(to, { throwIfNoEntry: false }) !== undefined);
    renameSync(from, to);
  }
}

function entriesIn(directory: Descriptor): Dirent<Buffer>[] {
  return readdirSync(directory.path, { withFileTypes: true, encoding: "buffer" });
}

/** Every entry of an open directory that may be long, with the bytes of its name. */
export function eachEntry(directory: Descriptor, action: (name: Buffer, entry: Dirent<Buffer>) => void): void {
  // The types of Node know no directory that is read with its names as bytes.
  const encoding = "buffer" as unknown as BufferEncoding;
  using entries = opendirSync(directory.path, { encoding, bufferSize: 1024 });
  for (let entry = entries.readSync(); entry !== null; entry = entries.readSync()) {
    const bytes = entry as unknown as Dirent<Buffer>;
    action(bytes.name, bytes);
  }
}

/** An entry of an open directory, for calls that do not follow the last part of a path. */
export function pathAt(directory: Descriptor, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${directory.path}/`), name]);
}

const unlessMissing = (remove: () => void) => unlessErrno(["ENOENT"], remove);

/** The names in a directory, in no order. */
export function namesIn(directory: Descriptor): string[] {
  return readdirSync(directory.path);
}
