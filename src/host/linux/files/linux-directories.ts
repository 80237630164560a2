import { randomUUID } from "node:crypto";
import { fchmodSync, fstatSync, ftruncateSync, opendirSync } from "node:fs";
import { basename, dirname } from "node:path";
import { VolumeError } from "../../../errors.ts";
import { isBeneath, relativePath } from "../../mount-table/mount-table.ts";
import type { Directories, DirectoryID, OperationContext, PayloadFile } from "../../ports/host-ports.ts";
import { askChild } from "../child/child-reply.ts";
import type { ChildRunner } from "../child/child-runner.ts";
import { makeDirectoriesAt, openDirectoryAt, openFileAt } from "../path/held-tree.ts";
import { targetError } from "../path/walk.ts";
import { AT_FDCWD, AT_REMOVEDIR, O, RESOLVE } from "../syscall/constants.ts";
import { Descriptor } from "../syscall/descriptor.ts";
import { errnoOf, unlessErrno } from "../syscall/errno.ts";
import type { Libc } from "../syscall/libc.ts";
import { writeAtomically } from "./atomic-writer.ts";
import { inheritGroup } from "./group-rights.ts";
import { ProjectQuota } from "./project-quota.ts";

/**
 * Milliseconds after which the child that empties the trash is ended: somebody may fill it faster than it is emptied.
 * Millions of files take minutes; the next time goes on where this one stopped.
 */
const trashDeadlineMs = 10 * 60_000;

/** Dependencies of making and removing directories. */
export interface LinuxDirectoriesOptions {
  readonly libc: Libc;
  /** Path of the trash, which is in the state directory. */
  readonly trash: string;
  readonly runner: ChildRunner;
}

/**
 * Directories beneath the state directory, which is on a local disk and closed to everybody else (0700). Each path is
 * walked from a descriptor of the state directory, without links, and what is done is done to what was opened.
 */
export class LinuxDirectories implements Directories {
  readonly #libc: Libc;
  readonly #trash: string;
  readonly #state: string;
  readonly #runner: ChildRunner;
  readonly #quota = new ProjectQuota();
  #emptying: Promise<void> | undefined;
  #emptiedNext: Promise<void> | undefined;

  constructor({ libc, trash, runner }: LinuxDirectoriesOptions) {
    this.#libc = libc;
    this.#trash = trash;
    this.#state = dirname(trash);
    this.#runner = runner;
  }

  async make(path: string, mode: number): Promise<DirectoryID> {
    using state = this.#openState();
    using made = this.#try(path, () => makeDirectoriesAt(this.#libc, state, this.#relative(path), 0o700));
    // Whoever was given the directory with its group goes on having what is made in it.
    fchmodSync(made.fd, mode | (fstatSync(made.fd).mode & inheritGroup));
    return idOf(made);
  }

  async limit(path: string, bytes: bigint): Promise<void> {
    using state = this.#openState();
    using directory = this.#try(path, () => openDirectoryAt(this.#libc, state, this.#relative(path)));
    this.#quota.limit(directory.fd, path, { bytes, seed: fstatSync(directory.fd).ino });
  }

  async identify(path: string): Promise<DirectoryID | undefined> {
    return unlessErrno(["ENOENT"], () => {
      using state = this.#openState();
      using found = this.#try(path, () => this.#openItself(state, this.#relative(path)));
      return idOf(found);
    });
  }

  async writePayload(path: string, files: readonly PayloadFile[], fsGroup?: number): Promise<boolean> {
    using state = this.#openState();
    using directory = this.#try(path, () => openDirectoryAt(this.#libc, state, this.#relative(path)));
    return this.#try(path, () => writeAtomically(this.#libc, directory, files, fsGroup));
  }

  async emptyIfLarger(path: string, bytes: number): Promise<void> {
    unlessErrno(["ENOENT"], () => {
      using parent = this.#openParent(path);
      using file = openFileAt(this.#libc, parent, basename(path), "append");
      const stat = fstatSync(file.fd);
      if (stat.isFile() && stat.size > bytes) ftruncateSync(file.fd);
    });
  }

  async remove(path: string): Promise<void> {
    unlessErrno(["ENOENT", "ENOTEMPTY", "EBUSY"], () => {
      using parent = this.#openParent(path);
      this.#libc.unlinkat(parent.fd, basename(path), AT_REMOVEDIR);
    });
  }

  async discard(path: string, id: DirectoryID): Promise<void> {
    const present = await this.identify(path);
    if (present === undefined || !isSame(present, id)) return;
    await this.make(this.#trash, 0o700);
    using from = this.#openParent(path);
    using state = this.#openState();
    using to = this.#try(this.#trash, () => openDirectoryAt(this.#libc, state, this.#relative(this.#trash)));
    // An agent in a container has the same pid, and such an inode, once more.
    const name = `${id.inode}.${randomUUID()}`;
    this.#libc.renameat(from.fd, basename(path), to.fd, name);
    using moved = this.#openItself(to, name);
    if (isSame(idOf(moved), id)) return this.#forgetLimit(to, name);
    this.#putBack({ to, name }, { from, name: basename(path) });
  }

  #forgetLimit(trash: Descriptor, name: string): void {
    // Something is mounted on it: its limit stays, as it does. Or it is a file or a link, and has none.
    unlessErrno(["EXDEV", "ENOTDIR", "ELOOP"], () => {
      using directory = openDirectoryAt(this.#libc, trash, name, "refuse");
      this.#quota.forget(directory.fd);
    });
  }

  /**
   * Another took its place after the look. It goes back, or beside it if the name is taken again: the trash is emptied.
   */
  #putBack(trash: { to: Descriptor; name: string }, place: { from: Descriptor; name: string }): void {
    try {
      this.#libc.renameFree(trash.to.fd, trash.name, place.from.fd, place.name);
    } catch (error) {
      if (errnoOf(error) !== "EEXIST") throw error;
      this.#libc.renameFree(trash.to.fd, trash.name, place.from.fd, `${place.name}.kept-${trash.name}`);
    }
  }

  /** One child at a time; who asks while it works waits for the next one, which sees what was thrown away since. */
  emptyTrash(): Promise<void> {
    if (this.#emptying === undefined) {
      const run = () => {
        this.#emptying = undefined;
      };
      this.#emptying = this.#emptyTrash();
      this.#emptying.then(run, run);
      return this.#emptying;
    }
    const next = () => {
      this.#emptiedNext = undefined;
      return this.emptyTrash();
    };
    this.#emptiedNext ??= this.#emptying.then(next, next);
    return this.#emptiedNext;
  }

  async #emptyTrash(): Promise<void> {
    if ((await this.identify(this.#trash)) === undefined || isEmpty(this.#trash)) return;
    const operation: OperationContext = {
      deadlineMs: trashDeadlineMs,
      formatDeadlineMs: trashDeadlineMs,
      onChild: async () => {}, // it does nothing to a volume, and a second one beside it does no harm
    };
    const reply = await askChild(this.#runner, { kind: "emptyTrash", path: this.#trash }, operation);
    if (!reply.ok) throw new VolumeError("TearDownFailed", "transient", reply.error.message);
    const { count, examples } = reply.value;
    if (count === 0) return;
    const message = `${count} of what was thrown away cannot be removed from ${this.#trash}: ${examples.join(", ")}`;
    throw new VolumeError("TearDownFailed", "transient", message);
  }

  #openParent(path: string): Descriptor {
    using state = this.#openState();
    return this.#try(path, () => openDirectoryAt(this.#libc, state, this.#relative(dirname(path)) || "."));
  }

  #openItself(above: Descriptor, path: string): Descriptor {
    const resolve = RESOLVE.BENEATH | RESOLVE.NO_SYMLINKS | RESOLVE.NO_MAGICLINKS;
    return new Descriptor(this.#libc.openat2(above.fd, path, O.PATH | O.NOFOLLOW | O.CLOEXEC, 0, resolve));
  }

  #openState(): Descriptor {
    const flags = O.PATH | O.DIRECTORY | O.CLOEXEC;
    return this.#try(this.#state, () => {
      return new Descriptor(this.#libc.openat2(AT_FDCWD, this.#state, flags, 0, RESOLVE.NO_SYMLINKS));
    });
  }

  #relative(path: string): string {
    if (!isBeneath(path, this.#state)) throw new Error(`${path} is not beneath ${this.#state}`);
    return relativePath(this.#state, path);
  }

  /** A walk beneath the state directory; where it failed for what stands on the way, with the reason. */
  #try<T>(path: string, walk: () => T): T {
    try {
      return walk();
    } catch (error) {
      throw targetError(error, { prefix: this.#state, path });
    }
  }
}

function idOf({ fd }: Descriptor): DirectoryID {
  const stat = fstatSync(fd);
  return { device: stat.dev, inode: stat.ino };
}

function isSame(a: DirectoryID, b: DirectoryID): boolean {
  return a.inode === b.inode && a.device === b.device;
}

/** Asked before a process is started for nothing: most volumes throw nothing away. */
function isEmpty(directory: string): boolean {
  const open = opendirSync(directory);
  try {
    return open.readSync() === null;
  } finally {
    open.closeSync();
  }
}
