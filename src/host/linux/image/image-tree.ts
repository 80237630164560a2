import { type BigIntStats, fstatSync, lstatSync, readlinkSync } from "node:fs";
import { openDirectoryAt, removeTreeAt } from "../path/held-tree.ts";
import { O, RESOLVE } from "../syscall/constants.ts";
import { Descriptor } from "../syscall/descriptor.ts";
import { unlessErrno } from "../syscall/errno.ts";
import type { Libc } from "../syscall/libc.ts";
import type { SandboxCalls } from "../syscall/sandbox-calls.ts";
import { refused } from "./image-path.ts";
import { LayerNames } from "./layer-names.ts";

/** As in the kernel. */
const mostLinks = 40;

const readable = O.RDONLY | O.DIRECTORY | O.CLOEXEC;
/** Stays in the root, whatever links say: to a link, the root of the image is the root directory. */
const inRoot = RESOLVE.IN_ROOT | RESOLVE.NO_MAGICLINKS;

/** The files of an image, in a directory that nobody else has, and what the layer that is written now has of them. */
export class ImageTree {
  readonly libc: Libc;
  readonly calls: SandboxCalls;
  readonly root: Descriptor;
  readonly #madeDirectory: () => void;
  layer = new LayerNames();

  /** @param madeDirectory is told of each directory that is made; throws if that is one too many */
  constructor(libc: Libc, calls: SandboxCalls, root: Descriptor, madeDirectory: () => void) {
    this.libc = libc;
    this.calls = calls;
    this.root = root;
    this.#madeDirectory = madeDirectory;
  }

  /**
   * A directory, made with all that is missing above it, as archives need not name each. A link on the way that leads
   * to nothing leads to a directory then, in the root.
   */
  open(segments: readonly string[], links = 0): Descriptor {
    const there = unlessErrno(["ENOENT"], () => this.openThere(segments));
    if (there !== undefined) return there;
    const above = segments.slice(0, -1);
    const name = segments.at(-1) ?? ".";
    using parent = this.open(above, links);
    const stat = statOf(parent, name);
    if (stat === undefined) {
      this.makeDirectory(parent, name, 0o755);
    } else if (stat.isSymbolicLink()) {
      if (links === mostLinks) throw refused(segments.join("/"), `leads through more than ${mostLinks} links`);
      const target = readlinkSync(`${parent.path}/${name}`);
      const names = target.split("/").filter((segment) => segment !== "" && segment !== ".");
      return this.open([...(target.startsWith("/") ? [] : above), ...names], links + 1);
    }
    return this.openThere(segments);
  }

  /** @returns undefined also if a file is on the way, or links in circles: nothing can be beneath them */
  openIfThere(segments: readonly string[]): Descriptor | undefined {
    return unlessErrno(["ENOENT", "ENOTDIR", "ELOOP"], () => this.openThere(segments));
  }

  openThere(segments: readonly string[]): Descriptor {
    return new Descriptor(this.libc.openat2(this.root.fd, segments.join("/") || ".", readable, 0, inRoot));
  }

  /** A directory in another, or the one above it. */
  step(directory: Descriptor, name: string): Descriptor {
    return new Descriptor(this.libc.openat2(directory.fd, name, readable, 0, 0));
  }

  makeDirectory(parent: Descriptor, name: string, mode: number): void {
    this.#madeDirectory();
    this.enter(parent);
    this.keepTime(parent, () => this.libc.mkdirat(parent.fd, name, mode));
    using made = openDirectoryAt(this.libc, parent, name);
    this.layer.enter(inodeOf(made));
    this.layer.own(inodeOf(made));
  }

  /** This layer writes in a directory, and so in all above it. */
  enter(directory: Descriptor): void {
    let inode = inodeOf(directory);
    if (this.layer.hasEntered(inode)) return;
    const root = inodeOf(this.root);
    let current = this.step(directory, ".");
    while (!this.layer.hasEntered(inode)) {
      this.layer.enter(inode);
      if (inode === root) break;
      using below = current;
      current = this.step(below, "..");
      inode = inodeOf(current);
    }
    current[Symbol.dispose]();
  }

  /**
   * What is added and removed in a directory is none of its own changes: its time is what the image says, as in umoci.
   */
  keepTime(directory: Descriptor, act: () => void): void {
    const { mtimeNs } = fstatSync(directory.fd, { bigint: true });
    act();
    this.calls.setTime(directory.fd, ".", mtimeNs);
  }

  remove(parent: Descriptor, name: string): void {
    const there = statOf(parent, name);
    if (there === undefined) return;
    this.keepTime(parent, () => removeTreeAt(this.libc, parent, { name, isDirectory: () => there.isDirectory() }));
  }
}

/** What is there under a name itself, no link followed. */
export function statOf(parent: Descriptor, name: string): BigIntStats | undefined {
  return lstatSync(`${parent.path}/${name}`, { bigint: true, throwIfNoEntry: false });
}

/** The inode of an open file. */
export function inodeOf({ fd }: Descriptor): bigint {
  return fstatSync(fd, { bigint: true }).ino;
}
