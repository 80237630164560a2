import { fchmodSync, fchownSync, fstatSync, ftruncateSync, lchownSync, writeSync } from "node:fs";
import { VolumeError } from "../../../errors.ts";
import { openDirectoryAt, openFileAt } from "../path/held-tree.ts";
import type { Descriptor } from "../syscall/descriptor.ts";
import type { Libc } from "../syscall/libc.ts";
import type { SandboxCalls } from "../syscall/sandbox-calls.ts";
import { cleaned, meant, refused } from "./image-path.ts";
import { ImageTree, inodeOf, statOf } from "./image-tree.ts";
import { LayerNames } from "./layer-names.ts";
import type { ReadEntry, TarEntry } from "./tar/tar.ts";
import { applyWhiteout, isWhiteout } from "./whiteouts.ts";

/** Most entries of all layers together, and directories that they imply. */
const mostEntries = 1_000_000;

/** As most file systems have it. */
const directorySize = 4096;

/** What AUFS has in the root is no part of the image, but for hard links to the files of one of its directories. */
const aufs = { prefix: ".wh..wh.", opaque: ".wh..wh..opq", links: ".wh..wh.plnk" };

/**
 * Writes layers, one over the other, into an empty directory that nobody else has. Links of the image are followed as
 * the image means them, and lead nowhere else. Owners, modes and times are those of the image; device nodes and
 * extended attributes are left out.
 */
export class LayerWriter {
  readonly #tree: ImageTree;
  readonly #most: number;
  /** A hard link to what was left out is left out, too. */
  readonly #leftOut = new LayerNames();
  #entries = 0;

  /** @param room is told of what directories take on the disk: an archive of a few bytes has a million of them */
  constructor(libc: Libc, calls: SandboxCalls, root: Descriptor, room: (bytes: number) => void, most = mostEntries) {
    this.#tree = new ImageTree(libc, calls, root, () => {
      this.#countOne();
      room(directorySize);
    });
    this.#most = most;
  }

  /** @param write writes all entries of a layer */
  async layer(write: () => Promise<void>): Promise<void> {
    this.#tree.layer = new LayerNames();
    await write();
    this.#tree.remove(this.#tree.root, aufs.links);
  }

  /** @throws VolumeError ContentRefused, ContentTooLarge */
  async write(entry: TarEntry, read: ReadEntry): Promise<void> {
    if (entry.kind !== "directory") this.#countOne(); // those are counted when they are made
    const segments = cleaned(entry.path);
    const [first = ""] = segments;
    const name = segments.pop();
    if (name === undefined) return; // the root is ours
    const isLinkOfAufs = first === aufs.links && segments.length === 1;
    if (first.startsWith(aufs.prefix) && !isLinkOfAufs && first !== aufs.opaque) return;
    try {
      if (isWhiteout(name) && !isLinkOfAufs) applyWhiteout(this.#tree, segments, name);
      else await this.#put(segments, name, entry, read);
    } catch (error) {
      throw meant(entry.path, error);
    }
  }

  #countOne(): void {
    if (++this.#entries <= this.#most) return;
    const message = `the image has more than ${this.#most} entries, with the directories that they imply: name a smaller one`;
    throw new VolumeError("ContentTooLarge", "final", message);
  }

  async #put(segments: readonly string[], name: string, entry: TarEntry, read: ReadEntry): Promise<void> {
    using parent = this.#tree.open(segments);
    const { ino, mtimeNs } = fstatSync(parent.fd, { bigint: true });
    this.#tree.enter(parent);
    if (entry.kind === "directory") this.#putDirectory(parent, name, entry);
    else if (entry.kind === "hardLink") this.#putHardLink(parent, name, cleaned(entry.target));
    else {
      this.#tree.remove(parent, name); // also of what is left out: it takes the place of what a layer beneath has there
      if (entry.kind === "file") await this.#makeFile(parent, name, entry, read);
      else if (entry.kind === "link") this.#makeLink(parent, name, entry);
      else this.#leftOut.add(ino, name);
    }
    this.#tree.layer.add(ino, name);
    this.#tree.calls.setTime(parent.fd, ".", mtimeNs);
  }

  #putDirectory(parent: Descriptor, name: string, { uid, gid, mode, mtime }: TarEntry): void {
    if (statOf(parent, name)?.isDirectory() !== true) {
      this.#tree.remove(parent, name);
      this.#tree.makeDirectory(parent, name, 0o700);
    } else this.#countOne();
    using made = openDirectoryAt(this.#tree.libc, parent, name);
    this.#tree.enter(made);
    fchownSync(made.fd, uid, gid);
    fchmodSync(made.fd, mode);
    this.#tree.calls.setTime(made.fd, ".", mtime);
  }

  async #makeFile(parent: Descriptor, name: string, entry: TarEntry, read: ReadEntry): Promise<void> {
    using file = openFileAt(this.#tree.libc, parent, name, "make");
    await read((piece, at) => {
      for (let done = 0; done < piece.length; ) done += writeSync(file.fd, piece, done, piece.length - done, at + done);
    });
    if (entry.holes > 0) ftruncateSync(file.fd, entry.size);
    fchownSync(file.fd, entry.uid, entry.gid);
    fchmodSync(file.fd, entry.mode);
    this.#tree.calls.setTime(parent.fd, name, entry.mtime);
  }

  #makeLink(parent: Descriptor, name: string, { path, target, uid, gid, mtime }: TarEntry): void {
    if (target === "" || target.includes("\0")) throw refused(path, "is a symbolic link to nothing");
    this.#tree.calls.symlinkat(target, parent.fd, name);
    lchownSync(`${parent.path}/${name}`, uid, gid);
    this.#tree.calls.setTime(parent.fd, name, mtime);
  }

  #putHardLink(parent: Descriptor, name: string, target: string[]): void {
    const file = target.pop() ?? "";
    using from = this.#tree.openThere(target);
    const of = statOf(from, file);
    if (of === undefined && this.#leftOut.has(inodeOf(from), file)) {
      this.#tree.remove(parent, name);
      this.#leftOut.add(inodeOf(parent), name);
    } else if (of === undefined || of.ino !== statOf(parent, name)?.ino) {
      this.#tree.remove(parent, name);
      this.#tree.calls.linkat(from.fd, file, parent.fd, name);
    } // else it is one more name of it already, or the same
  }
}
