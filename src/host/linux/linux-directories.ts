import { chmodSync, lstatSync, mkdirSync, readdirSync, rmdirSync } from "node:fs";
import { basename, dirname } from "node:path";
import type { Directories, DirectoryID, PayloadFile } from "../ports.ts";
import { writeAtomically } from "./atomic-writer.ts";
import { AT_EMPTY_PATH, AT_FDCWD, AT_REMOVEDIR, O, RESOLVE, S_IFMT } from "./constants.ts";
import { Descriptor } from "./descriptor.ts";
import { errnoOf } from "./errno.ts";
import type { Libc } from "./libc.ts";

const stay = RESOLVE.BENEATH | RESOLVE.NO_SYMLINKS | RESOLVE.NO_MAGICLINKS;
const yieldEvery = 256;

/** Directories beneath the state directory, which is on a local disk and closed to everybody else (0700). */
export class LinuxDirectories implements Directories {
  readonly #libc: Libc;
  readonly #trash: string;
  #sequence = 0;

  constructor(libc: Libc, trash: string) {
    this.#libc = libc;
    this.#trash = trash;
  }

  async make(path: string, mode: number): Promise<DirectoryID> {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    chmodSync(path, mode);
    return idOf(path);
  }

  async identify(path: string): Promise<DirectoryID | undefined> {
    try {
      return idOf(path);
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return undefined;
      throw error;
    }
  }

  async writePayload(directory: string, files: readonly PayloadFile[]): Promise<boolean> {
    return writeAtomically(directory, files);
  }

  async remove(path: string): Promise<void> {
    try {
      rmdirSync(path);
    } catch (error) {
      if (!["ENOENT", "ENOTEMPTY", "EBUSY"].includes(errnoOf(error) ?? "")) throw error;
    }
  }

  async discard(path: string, id: DirectoryID): Promise<void> {
    const present = await this.identify(path);
    if (present === undefined || present.inode !== id.inode || present.device !== id.device) return;
    await this.make(this.#trash, 0o700);
    using from = this.#openDirectory(AT_FDCWD, dirname(path), 0);
    using to = this.#openDirectory(AT_FDCWD, this.#trash, 0);
    this.#libc.renameat(from.fd, basename(path), to.fd, `${id.inode}.${process.pid}.${this.#sequence++}`);
  }

  async emptyTrash(): Promise<void> {
    if ((await this.identify(this.#trash)) === undefined) return;
    using trash = this.#openDirectory(AT_FDCWD, this.#trash, 0);
    await this.#empty(trash, { removed: 0 });
  }

  /**
   * Removes everything beneath a directory by descriptor: whoever still has something open there may swap names under
   * our hands, and must not make us leave it. Another file system beneath (NO_XDEV) stays, and its path with it.
   */
  async #empty(directory: Descriptor, progress: { removed: number }): Promise<void> {
    for (const name of readdirSync(directory.path)) {
      if (++progress.removed % yieldEvery === 0) await new Promise((resolve) => setImmediate(resolve));
      try {
        if (this.#isDirectory(directory, name)) await this.#removeDirectory(directory, name, progress);
        else this.#libc.unlinkat(directory.fd, name, 0);
      } catch (error) {
        if (!["ENOENT", "EXDEV", "EBUSY", "ENOTEMPTY", "ELOOP"].includes(errnoOf(error) ?? "")) throw error;
      }
    }
  }

  async #removeDirectory(parent: Descriptor, name: string, progress: { removed: number }): Promise<void> {
    using child = this.#openDirectory(parent.fd, name, stay | NO_XDEV);
    await this.#empty(child, progress);
    this.#libc.unlinkat(parent.fd, name, AT_REMOVEDIR);
  }

  #isDirectory(parent: Descriptor, name: string): boolean {
    using entry = new Descriptor(this.#libc.openat2(parent.fd, name, O.PATH | O.NOFOLLOW | O.CLOEXEC, 0, 0));
    return (this.#libc.statx(entry.fd, "", AT_EMPTY_PATH).mode & S_IFMT) === 0o040000;
  }

  #openDirectory(parent: number, path: string, resolve: number): Descriptor {
    return new Descriptor(this.#libc.openat2(parent, path, O.DIRECTORY | O.NOFOLLOW | O.CLOEXEC, 0, resolve));
  }
}

const NO_XDEV = 0x01;

function idOf(path: string): DirectoryID {
  const stat = lstatSync(path);
  return { device: stat.dev, inode: stat.ino };
}
