import { chmodSync, lstatSync, mkdirSync, rmdirSync } from "node:fs";
import { basename, dirname } from "node:path";
import { VolumeError } from "../../errors.ts";
import type { Directories, DirectoryID, OperationContext, PayloadFile } from "../ports.ts";
import { writeAtomically } from "./atomic-writer.ts";
import type { ChildRunner } from "./child-runner.ts";
import { AT_FDCWD, O } from "./constants.ts";
import { Descriptor } from "./descriptor.ts";
import type { TrashLeft } from "./empty-trash.ts";
import { errnoOf } from "./errno.ts";
import type { Libc } from "./libc.ts";

/**
 * Milliseconds after which the child that empties the trash is ended: somebody may fill it faster than it is emptied.
 * Millions of files take minutes; the next time goes on where this one stopped.
 */
const trashDeadlineMs = 10 * 60_000;

export interface LinuxDirectoriesOptions {
  readonly libc: Libc;
  /** Path of the trash. */
  readonly trash: string;
  readonly runner: ChildRunner;
}

/** Directories beneath the state directory, which is on a local disk and closed to everybody else (0700). */
export class LinuxDirectories implements Directories {
  readonly #libc: Libc;
  readonly #trash: string;
  readonly #runner: ChildRunner;
  #sequence = 0;
  #emptying: Promise<void> | undefined;
  #emptiedNext: Promise<void> | undefined;

  constructor({ libc, trash, runner }: LinuxDirectoriesOptions) {
    this.#libc = libc;
    this.#trash = trash;
    this.#runner = runner;
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
    using from = this.#openDirectory(dirname(path));
    using to = this.#openDirectory(this.#trash);
    this.#libc.renameat(from.fd, basename(path), to.fd, `${id.inode}.${process.pid}.${this.#sequence++}`);
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
    if ((await this.identify(this.#trash)) === undefined) return;
    const operation: OperationContext = {
      deadlineMs: trashDeadlineMs,
      formatDeadlineMs: trashDeadlineMs,
      onChild: async () => {}, // it does nothing to a volume, and a second one beside it does no harm
    };
    const result = await this.#runner.run({ kind: "emptyTrash", path: this.#trash }, operation);
    if (result.code !== 0) throw new VolumeError("TearDownFailed", "transient", result.stderr.trim().slice(-512));
    const { count, examples } = JSON.parse(result.stdout) as TrashLeft;
    if (count === 0) return;
    const message = `${count} of what was thrown away cannot be removed from ${this.#trash}: ${examples.join(", ")}`;
    throw new VolumeError("TearDownFailed", "transient", message);
  }

  #openDirectory(path: string): Descriptor {
    return new Descriptor(this.#libc.openat2(AT_FDCWD, path, O.DIRECTORY | O.NOFOLLOW | O.CLOEXEC, 0, 0));
  }
}

function idOf(path: string): DirectoryID {
  const stat = lstatSync(path);
  return { device: stat.dev, inode: stat.ino };
}
