import {
  fchmodSync,
  fchownSync,
  fstatSync,
  lchownSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname } from "node:path";
import type { PayloadFile } from "../../ports/host-ports.ts";
import { makeDirectoriesAt, openDirectoryAt, openFileAt, removeTreeAt } from "../path/held-tree.ts";
import type { Descriptor } from "../syscall/descriptor.ts";
import { errnoOf, ifThere, unlessErrno } from "../syscall/errno.ts";
import type { Libc } from "../syscall/libc.ts";
import { inheritGroup, rightsFor } from "./group-rights.ts";

/**
 * Makes `directory` show exactly `files`, all at once for a reader, in kubelet's layout (behaviour 121,
 * pkg/volume/util/atomic_writer.go):
 *
 *   name      -> ..data/name          what readers open
 *   ..data    -> ..payload-a1b2c3             swapped by one rename
 *   ..payload-a1b2c3/name                     this payload
 *
 * Nobody else writes here: the targets are bound read-only. Still each name is looked up in a directory that is held,
 * and no link is followed. What fails takes its payload away again; a crash leaves at most one that nothing points to,
 * which the next call removes before it writes, as there may be no room for both.
 * @param fsGroup that everything belongs to, and that may read it
 * @returns whether anything was written
 */
export function writeAtomically(
  libc: Libc,
  directory: Descriptor,
  given: readonly PayloadFile[],
  fsGroup?: number,
): boolean {
  const files = fsGroup === undefined ? given : given.map((file) => ({ ...file, mode: rightsFor(file.mode, true) }));
  const at = (name: string) => `${directory.path}/${name}`;
  const current = readLink(at("..data"));
  const same = current !== undefined && isShown(libc, directory, current, files, fsGroup);
  if (fsGroup !== undefined) passOn(directory, fsGroup);
  makeRoom(libc, directory, current);
  if (!same) {
    // 1. the new payload, complete, where no reader looks
    const fresh = basename(mkdtempSync(at("..payload-")));
    try {
      writePayload(libc, directory, fresh, files, fsGroup);
      // 2. one rename shows it
      symlinkSync(fresh, at("..data_tmp"));
      renameSync(at("..data_tmp"), at("..data"));
    } catch (error) {
      removeOthers(libc, directory, (name) => name !== fresh && name !== "..data_tmp");
      throw error;
    }
  }
  // 3. names that readers use, new ones first
  const names = new Set(files.map((file) => file.path.split("/", 1)[0] ?? ""));
  for (const name of names) if (readLink(at(name)) === undefined) symlinkSync(`..data/${name}`, at(name));
  if (fsGroup !== undefined) for (const name of ["..data", ...names]) lchownSync(at(name), -1, fsGroup);
  // 4. what is no longer shown
  const shown = readLink(at("..data"));
  removeOthers(libc, directory, (name) => name === "..data" || name === shown || names.has(name));
  return !same;
}

/** Removes payloads that nothing points to. What stays is met again, and said, after the new one is shown. */
function makeRoom(libc: Libc, directory: Descriptor, current: string | undefined): void {
  ifThere(() =>
    removeOthers(libc, directory, (name) => !name.startsWith("..") || name === "..data" || name === current),
  );
}

function removeOthers(libc: Libc, directory: Descriptor, stays: (name: string) => boolean): void {
  for (const entry of readdirSync(directory.path, { withFileTypes: true })) {
    if (!stays(entry.name)) removeTreeAt(libc, directory, entry);
  }
}

function writePayload(
  libc: Libc,
  directory: Descriptor,
  name: string,
  files: readonly PayloadFile[],
  fsGroup: number | undefined,
): void {
  using payload = openDirectoryAt(libc, directory, name, "refuse");
  if (fsGroup !== undefined) passOn(payload, fsGroup); // to all that is made in it
  for (const file of files) writeFile(libc, payload, file);
  fchmodSync(payload.fd, 0o755 | (fstatSync(payload.fd).mode & inheritGroup));
}

function writeFile(libc: Libc, payload: Descriptor, { path, content, mode }: PayloadFile): void {
  using parent = makeDirectoriesAt(libc, payload, dirname(path) === "." ? "" : dirname(path), 0o755);
  using file = openFileAt(libc, parent, basename(path), "make");
  writeFileSync(file.fd, content);
  fchmodSync(file.fd, mode);
}

/** Gives a directory to a group, and what is made in it from now on. */
function passOn(directory: Descriptor, fsGroup: number): void {
  fchownSync(directory.fd, -1, fsGroup);
  fchmodSync(directory.fd, rightsFor(fstatSync(directory.fd).mode, true));
}

function isShown(
  libc: Libc,
  directory: Descriptor,
  current: string,
  files: readonly PayloadFile[],
  fsGroup: number | undefined,
): boolean {
  const isOfGroup = (fd: number) => fsGroup === undefined || fstatSync(fd).gid === fsGroup;
  try {
    using payload = openDirectoryAt(libc, directory, current, "refuse");
    if (!isOfGroup(payload.fd)) return false;
    const present = new Set(listFiles(libc, payload, ""));
    if (present.size !== files.length) return false;
    return files.every((file) => {
      if (!present.has(file.path)) return false;
      using open = openFileAt(libc, payload, file.path, "read");
      const { mode } = fstatSync(open.fd);
      return isOfGroup(open.fd) && (mode & 0o777) === file.mode && readFileSync(open.fd).equals(file.content);
    });
  } catch (error) {
    if (["ENOENT", "ELOOP", "EXDEV", "ENOTDIR"].includes(errnoOf(error) ?? "")) return false;
    throw error;
  }
}

function listFiles(libc: Libc, directory: Descriptor, relative: string): string[] {
  return readdirSync(directory.path, { withFileTypes: true }).flatMap((entry) => {
    const path = `${relative}${entry.name}`;
    if (!entry.isDirectory()) return [path];
    using inner = openDirectoryAt(libc, directory, entry.name, "refuse");
    return listFiles(libc, inner, `${path}/`);
  });
}

function readLink(path: string): string | undefined {
  return unlessErrno(["ENOENT", "EINVAL"], () => readlinkSync(path));
}
