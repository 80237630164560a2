import { chmodSync, openSync } from "node:fs";
import type { OwnershipRequest, OwnershipResult } from "../../ports/ownership.ts";
import { eachEntry, pathAt } from "../path/held-tree.ts";
import { AT_EMPTY_PATH, O, S_IFMT } from "../syscall/constants.ts";
import { Descriptor } from "../syscall/descriptor.ts";
import { errnoOf } from "../syscall/errno.ts";
import type { Libc, Statx } from "../syscall/libc.ts";
import { directoryType, rightsFor, symbolicLink } from "./group-rights.ts";

/** How deep directories are gone into: each level keeps two files open, and a process may open 1024. */
const deepest = 450;
const exampleLimit = 5;
const rootPath = "";

/** Told at each name that is come to, how many entries were done before it. */
export type Tell = (entries: number) => void;

/** One walk through all entries of a mount, or of a directory that is none, the root last (giveToGroup). */
export class GroupWalk {
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

  of(root: Descriptor): OwnershipResult {
    this.#inside(root, rootPath, 0);
    const failed = this.#failed;
    this.#give(root, this.#statOf(root), rootPath);
    this.#entries++;
    const rootFailed = this.#failed > failed && { rootFailed: true };
    return { entries: this.#entries, failed: this.#failed, examples: this.#examples, ...rootFailed };
  }

  /** @throws Errno if the directory cannot be read: what is in it would not be given to the group, and nobody told */
  #inside(directory: Descriptor, path: string, depth: number): void {
    if (depth === deepest) {
      this.#keep(`${path}/`, `deeper than ${deepest} directories`);
      return;
    }
    eachEntry(directory, (name) => {
      this.#tell(this.#entries);
      this.#named(directory, name, `${path}/${name}`, depth + 1);
    });
  }

  #named(directory: Descriptor, name: Buffer, path: string, depth: number): void {
    using self = this.#try(path, () => new Descriptor(openSync(pathAt(directory, name), O.PATH | O.NOFOLLOW)));
    const stat = self && this.#try(path, () => this.#statOf(self));
    if (self === undefined || stat === undefined || stat.mountID !== this.#request.mountID) return;
    if ((stat.mode & S_IFMT) !== directoryType) this.#give(self, stat, path);
    else {
      this.#inside(self, path, depth);
      // Hours may have passed: rights that its owner took away meanwhile stay away.
      const now = this.#try(path, () => this.#statOf(self));
      if (now !== undefined) this.#give(self, now, path);
    }
    this.#entries++;
  }

  #statOf(self: Descriptor): Statx {
    return this.#libc.statx(self.fd, "", AT_EMPTY_PATH);
  }

  #give(self: Descriptor, { mode, gid }: Statx, path: string): void {
    const { fsGroup, readOnly } = this.#request;
    const isLink = (mode & S_IFMT) === symbolicLink;
    const wanted = rightsFor(mode, readOnly);
    if (gid === fsGroup && (isLink || wanted === (mode & ~S_IFMT))) return;
    const failed = this.#failed;
    this.#try(path, () => this.#libc.changeGroup(self.fd, fsGroup));
    // The rights of a link are nobody's; those of what it leads to are not meant.
    if (!isLink) this.#try(path, () => chmodSync(self.path, wanted));
    this.#failed = Math.min(this.#failed, failed + 1); // one entry, even if both were refused
  }

  /**
   * One entry that refuses is counted, and does not keep the others; undefined then, or if it was removed meanwhile.
   */
  #try<T>(path: string, action: () => T): T | undefined {
    try {
      return action();
    } catch (error) {
      const code = errnoOf(error);
      if (code === undefined) throw error;
      const removed = path !== rootPath && (code === "ENOENT" || code === "ESTALE");
      if (!removed) this.#keep(path, code);
      return undefined;
    }
  }

  #keep(path: string, why: string): void {
    this.#failed++;
    if (this.#examples.length < exampleLimit)
      this.#examples.push(`${path === rootPath ? "/" : path}: ${why}`.slice(0, 256));
  }
}
