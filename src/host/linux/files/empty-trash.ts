import { type Dirent, lstatSync, renameSync, rmdirSync, unlinkSync } from "node:fs";
import type { TrashLeft } from "../child/child-protocol.ts";
import { eachEntry, pathAt } from "../path/held-tree.ts";
import { AT_FDCWD, O, RESOLVE } from "../syscall/constants.ts";
import { Descriptor } from "../syscall/descriptor.ts";
import { errnoOf } from "../syscall/errno.ts";
import type { Libc } from "../syscall/libc.ts";

/** Directories that wait to be emptied in this pass; the next pass finds the others. */
const waitingAtOnce = 10_000;
const exampleLimit = 5;

/**
 * Empties the trash, whose content may be made to resist: names that are no text, more of them than fit into memory,
 * directories deeper than files can be open. Whoever still has something open in there may swap names under our hands,
 * and must not make us leave it. So at most two directories are open at a time, each by descriptor, and a directory in
 * a directory is first moved up into the trash, under a name of ours: a mount point does not move. Nothing is followed,
 * no other file system is entered, and what cannot be removed does not keep the rest.
 *
 * Runs in a disposable child: the calls block, and the memory goes with it.
 */
export function emptyTrash(libc: Libc, path: string): TrashLeft {
  using trash = openDirectory(libc, AT_FDCWD, path, RESOLVE.NO_SYMLINKS);
  const trashed = new Trash(libc, trash);
  for (;;) {
    const pass = trashed.pass();
    if (!pass.progress) return pass.left;
  }
}

class Trash {
  readonly #libc: Libc;
  readonly #trash: Descriptor;
  readonly #waiting: Buffer[] = [];
  #sequence = 0;
  #progress = false;
  #left = 0;
  #examples: string[] = [];

  constructor(libc: Libc, trash: Descriptor) {
    this.#libc = libc;
    this.#trash = trash;
  }

  /** Goes through everything once. Without progress there is nothing left but what cannot be removed. */
  pass(): { progress: boolean; left: TrashLeft } {
    this.#progress = false;
    this.#left = 0;
    this.#examples = [];
    eachEntry(this.#trash, (name, entry) => {
      this.#remove(this.#trash, name, entry, "");
      for (let next = this.#waiting.pop(); next !== undefined; next = this.#waiting.pop()) this.#removeDirectory(next);
    });
    return { progress: this.#progress, left: { count: this.#left, examples: this.#examples } };
  }

  #remove(directory: Descriptor, name: Buffer, entry: Dirent<Buffer>, within: string): void {
    this.#try(`${within}${name}`, () => {
      const path = pathAt(directory, name);
      if (!isDirectory(entry, path)) {
        unlinkSync(path);
        this.#progress = true;
      } else if (directory === this.#trash) this.#waiting.push(name);
      else this.#moveUp(path);
    });
  }

  /** A directory of the trash itself: its name is one that we gave. */
  #removeDirectory(name: Buffer): void {
    this.#try(name.toString(), () => {
      using directory = openDirectory(this.#libc, this.#trash.fd, name.toString(), stay);
      eachEntry(directory, (inner, entry) => this.#remove(directory, inner, entry, `${name}/`));
    });
    try {
      rmdirSync(pathAt(this.#trash, name));
      this.#progress = true;
    } catch (error) {
      // Why something in it stays is said already; what was moved or made meanwhile is met in the next pass.
      if (!["ENOTEMPTY", "ENOENT"].includes(errnoOf(error) ?? "")) this.#keep(name.toString(), error);
    }
  }

  #moveUp(from: Buffer): void {
    const name = Buffer.from(`deep.${process.pid}.${this.#sequence++}`);
    renameSync(from, pathAt(this.#trash, name));
    this.#progress = true;
    if (this.#waiting.length < waitingAtOnce) this.#waiting.push(name);
  }

  #try(what: string, action: () => void): void {
    try {
      action();
    } catch (error) {
      if (errnoOf(error) !== "ENOENT") this.#keep(what, error);
    }
  }

  #keep(what: string, error: unknown): void {
    this.#left += 1;
    if (this.#examples.length < exampleLimit) this.#examples.push(`${what}: ${errnoOf(error) ?? String(error)}`);
  }
}

const stay = RESOLVE.BENEATH | RESOLVE.NO_SYMLINKS | RESOLVE.NO_MAGICLINKS | RESOLVE.NO_XDEV;

function openDirectory(libc: Libc, parent: number, path: string, resolve = 0): Descriptor {
  return new Descriptor(libc.openat2(parent, path, O.DIRECTORY | O.NOFOLLOW | O.CLOEXEC, 0, resolve));
}

/** Not every file system says what an entry is. */
function isDirectory(entry: Dirent<Buffer>, path: Buffer): boolean {
  const known = entry.isDirectory() || entry.isFile() || entry.isSymbolicLink();
  return known ? entry.isDirectory() : lstatSync(path).isDirectory();
}
