import { chmodSync, type Dirent, opendirSync, openSync } from "node:fs";
import { VolumeError } from "../../errors.ts";
import type { OwnershipRequest, OwnershipResult } from "../ownership.ts";
import { AT_EMPTY_PATH, AT_FDCWD, O, RESOLVE, S_IFMT } from "./constants.ts";
import { Descriptor } from "./descriptor.ts";
import { errnoOf } from "./errno.ts";
import type { Libc, Statx } from "./libc.ts";

/** Rights that the group gets of a file that may be written to, and of one that may not (kubelet: volume_linux.go). */
const readWrite = 0o660;
const readOnly = 0o440;
/** And of a directory: to go through it, and that what is made in it has its group. */
const enter = 0o110;
const inheritGroup = 0o2000;

const directoryType = 0o040000;
const symbolicLink = 0o120000;

const namesAtOnce = 1024;
/** How deep directories are gone into: each level keeps two files open, and a process may open 1024. */
const deepest = 450;
const exampleLimit = 5;
/** How many entries pass between two looks at the clock. */
const entriesAtOnce = 256;

/** Told how many entries were come to. */
export type Tell = (entries: number) => void;

/**
 * Gives all that is on a mount to a group, root last (Ownership.give). What is there belongs to somebody who may make it resist, and
 * may swap names under our hands: each entry is opened by its one name in a directory that is held, without being followed or
 * opened itself (O_PATH), and what is looked at and changed is that descriptor. What lies on another mount is not of the volume.
 *
 * Runs in a disposable child: the calls block, and there may be millions of them.
 */
export function giveToGroup(libc: Libc, request: OwnershipRequest, tell: Tell): OwnershipResult {
  using root = openRoot(libc, request);
  const stat = libc.statx(root.fd, "", AT_EMPTY_PATH);
  if (stat.mountID !== request.mountID || stat.device !== request.device || !stat.mountRoot) throw changed(request);
  if (request.policy === "OnRootMismatch" && fits(stat, request)) return { entries: 0, failed: 0, examples: [] };
  return new Walk(libc, request, tell).of(root, stat);
}

/** Whether a volume's root says that everything was given to the group before (kubelet: requiresPermissionChange). */
export function fits(
  { mode, gid }: Pick<Statx, "mode" | "gid">,
  wanted: Pick<OwnershipRequest, "fsGroup" | "readOnly">,
) {
  if (gid !== wanted.fsGroup || (mode & S_IFMT) !== directoryType) return false;
  const rights = (wanted.readOnly ? readOnly : readWrite) | enter | inheritGroup;
  return (mode & rights) === rights;
}

/** The permission bits that an entry gets: what it has, and what the group needs. */
export function rightsFor(mode: number, forReading: boolean): number {
  const directory = (mode & S_IFMT) === directoryType ? enter | inheritGroup : 0;
  return (mode & ~S_IFMT) | (forReading ? readOnly : readWrite) | directory;
}

class Walk {
  readonly #libc: Libc;
  readonly #request: OwnershipRequest;
  readonly #tell: Tell;
  #entries = 0;
  #failed = 0;
  readonly #examples: string[] = [];

  constructor(libc: Libc, request: OwnershipRequest, tell: Tell) {
    this.#libc = libc;
    this.#request = request;
    this.#tell = tell;
  }

  of(root: Descriptor, stat: Statx): OwnershipResult {
    this.#entry(root, stat, "", 0);
    return { entries: this.#entries, failed: this.#failed, examples: this.#examples };
  }

  /** An entry, after all that is in it. */
  #entry(self: Descriptor, stat: Statx, path: string, depth: number): void {
    if ((stat.mode & S_IFMT) === directoryType) this.#inside(self, path, depth);
    this.#give(self, stat, path);
    this.#entries++;
    if (this.#entries % entriesAtOnce === 0) this.#tell(this.#entries);
  }

  /** @throws Errno if the directory cannot be read: what is in it would not be given to the group, and nobody told */
  #inside(directory: Descriptor, path: string, depth: number): void {
    if (depth === deepest) {
      this.#keep(`${path}/`, `deeper than ${deepest} directories`);
      return;
    }
    // The types of Node know no directory that is read with its names as bytes.
    const encoding = "buffer" as unknown as BufferEncoding;
    using entries = opendirSync(directory.path, { encoding, bufferSize: namesAtOnce });
    for (let entry = entries.readSync(); entry !== null; entry = entries.readSync()) {
      const { name } = entry as unknown as Dirent<Buffer>;
      this.#named(directory, name, `${path}/${name}`, depth);
    }
  }

  #named(directory: Descriptor, name: Buffer, path: string, depth: number): void {
    let self: Descriptor;
    try {
      self = new Descriptor(openSync(Buffer.concat([Buffer.from(`${directory.path}/`), name]), O.PATH | O.NOFOLLOW));
    } catch (error) {
      if (errnoOf(error) !== "ENOENT") this.#keep(path, errnoOf(error)); // else it was removed meanwhile
      return;
    }
    using held = self;
    const stat = this.#libc.statx(held.fd, "", AT_EMPTY_PATH);
    if (stat.mountID === this.#request.mountID) this.#entry(held, stat, path, depth + 1);
  }

  #give(self: Descriptor, { mode, gid }: Statx, path: string): void {
    const { fsGroup, readOnly: forReading } = this.#request;
    const isLink = (mode & S_IFMT) === symbolicLink;
    const wanted = rightsFor(mode, forReading);
    if (gid === fsGroup && (isLink || wanted === (mode & ~S_IFMT))) return;
    this.#try(path, () => this.#libc.changeGroup(self.fd, fsGroup));
    // The rights of a link are nobody's; those of what it leads to are not meant.
    if (!isLink) this.#try(path, () => chmodSync(self.path, wanted));
  }

  #try(path: string, action: () => void): void {
    try {
      action();
    } catch (error) {
      this.#keep(path, errnoOf(error) ?? String(error));
    }
  }

  #keep(path: string, why: string | undefined): void {
    this.#failed++;
    if (this.#examples.length < exampleLimit) this.#examples.push(`${path === "" ? "/" : path}: ${why}`.slice(0, 256));
  }
}

function openRoot(libc: Libc, request: OwnershipRequest): Descriptor {
  try {
    return new Descriptor(
      libc.openat2(AT_FDCWD, request.path, O.PATH | O.NOFOLLOW | O.CLOEXEC, 0, RESOLVE.NO_SYMLINKS),
    );
  } catch (error) {
    if (errnoOf(error) === "ENOENT") throw changed(request);
    throw error;
  }
}

function changed({ path }: OwnershipRequest): VolumeError {
  return new VolumeError("TargetChanged", "transient", `the mount on ${path} is not the one that was seen there`);
}
