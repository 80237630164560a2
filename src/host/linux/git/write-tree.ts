import { fchmodSync, writeSync } from "node:fs";
import { VolumeError } from "../../../errors.ts";
import { makeDirectoriesAt, openFileAt } from "../path/held-tree.ts";
import type { Descriptor } from "../syscall/descriptor.ts";
import { errnoOf } from "../syscall/errno.ts";
import type { Libc } from "../syscall/libc.ts";
import type { SandboxCalls } from "../syscall/sandbox-calls.ts";
import { refused, type TreeEntry } from "./tree-entries.ts";

/** What a write fails with when an entry has the name of another, or lies beneath one that is no directory. */
const twice = ["EEXIST", "ENOTDIR", "ELOOP", "EXDEV", "EISDIR"];

/** Hands out the bytes of an object, piece by piece. */
export type ReadObject = (object: string, size: number, take: (bytes: Buffer) => void) => Promise<void>;

/**
 * Writes the files of a tree into an empty directory that nobody else has: root's, readable for everybody, each made
 * anew by its name in a directory that is held. A symbolic link is written as it is and followed by nobody here: who
 * reads the volume resolves it in a root of his own.
 */
export async function writeTree(
  libc: Libc,
  calls: SandboxCalls,
  root: Descriptor,
  entries: readonly TreeEntry[],
  read: ReadObject,
  onProgress: (written: number) => void,
): Promise<void> {
  let written = 0;
  for (const entry of entries) {
    try {
      await writeEntry(libc, calls, root, entry, read);
    } catch (error) {
      throw meant(entry, error);
    }
    onProgress(++written);
  }
}

async function writeEntry(
  libc: Libc,
  calls: SandboxCalls,
  root: Descriptor,
  { kind, object, size, path }: TreeEntry,
  read: ReadObject,
): Promise<void> {
  if (kind === "submodule") {
    makeDirectoriesAt(libc, root, path, 0o755)[Symbol.dispose]();
    return;
  }
  const cut = path.lastIndexOf("/");
  using parent = makeDirectoriesAt(libc, root, path.slice(0, Math.max(cut, 0)), 0o755);
  const name = path.slice(cut + 1);
  if (kind === "link") {
    const pieces: Buffer[] = [];
    await read(object, size, (bytes) => pieces.push(Buffer.from(bytes)));
    calls.symlinkat(linkTarget(path, Buffer.concat(pieces)), parent.fd, name);
    return;
  }
  using file = openFileAt(libc, parent, name, "make");
  await read(object, size, (bytes) => {
    for (let done = 0; done < bytes.length; ) done += writeSync(file.fd, bytes, done);
  });
  fchmodSync(file.fd, kind === "executable" ? 0o755 : 0o644);
}

function linkTarget(path: string, bytes: Buffer): string {
  const target = bytes.toString("utf8");
  if (!Buffer.from(target, "utf8").equals(bytes) || target.includes("\0") || target === "") {
    throw refused(path, "is a symbolic link to something that is no path");
  }
  return target;
}

function meant(entry: TreeEntry, error: unknown): unknown {
  const code = errnoOf(error) ?? "";
  if (twice.includes(code)) return refused(entry.path, "has the name of another file, or lies beneath one");
  if (code === "ENOSPC" || code === "EDQUOT") {
    return new VolumeError("SetUpFailed", "transient", "the disk of the state directory is full: make room on it");
  }
  return error;
}
