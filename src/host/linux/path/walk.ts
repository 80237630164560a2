import { hasDots } from "../../../api/values/path.ts";
import { VolumeError } from "../../../errors.ts";
import { joinPath, type MountTable, relativePath } from "../../mount-table/mount-table.ts";
import type { FileKind, SourcePath } from "../../ports/host-ports.ts";
import type { TargetPath } from "../../ports/types.ts";
import { AT_FDCWD, O, RESOLVE, S_IFMT } from "../syscall/constants.ts";
import { Descriptor } from "../syscall/descriptor.ts";
import { errnoOf, unlessErrno } from "../syscall/errno.ts";
import { type KnownStat, knownStat } from "../syscall/known-stat.ts";
import type { Libc, Statx } from "../syscall/libc.ts";
import { openKnown } from "./known-walk.ts";

/**
 * Paths that others may change under our hands are walked by the kernel from a held descriptor (openat2(2)), never
 * looked up twice as a string. Targets: nothing but plain directories between prefix and target. Sources: links are
 * followed, but the root directory of the walk is the node's.
 */

const beneath = RESOLVE.BENEATH | RESOLVE.NO_SYMLINKS | RESOLVE.NO_MAGICLINKS;
/** Between prefix and target nothing is mounted: what is, is another's, and not a place to make anything in. */
const inOneMount = beneath | RESOLVE.NO_XDEV;
const symbolicLink = 0o120000;
const inRoot = RESOLVE.IN_ROOT | RESOLVE.NO_MAGICLINKS;

/** What a walk to a source may go through; a table: no links, and no mounts but those that it shows (known-walk.ts). */
export type Way = "followLinks" | "refuseLinks" | MountTable;

/**
 * A source, opened without opening the file itself (O_PATH); undefined if it is not there.
 * @throws Errno ELOOP if there is a symbolic link that may not be followed, EXDEV if there is a mount that is not known
 */
export function openSource(libc: Libc, source: SourcePath, way: Way): Descriptor | undefined {
  try {
    if (typeof way === "object") return openKnown(libc, sourceString(source), way);
    using root = new Descriptor(libc.openat2(AT_FDCWD, source.root, O.PATH | O.DIRECTORY | O.CLOEXEC, 0, 0));
    const follow = way === "followLinks" && source.links === undefined;
    return openInRoot(libc, root, source.path, follow ? inRoot : inRoot | RESOLVE.NO_SYMLINKS);
  } catch (error) {
    if (errnoOf(error) === "ENOENT" || errnoOf(error) === "ENOTDIR") return undefined;
    if (errnoOf(error) === "ELOOP" && source.links === "refuse" && typeof way !== "object")
      throw linkAt(sourceString(source), error);
    throw error;
  }
}

/** Opens a path with `root` for a root directory. */
export function openInRoot(libc: Libc, root: Descriptor, path: string, resolve = inRoot): Descriptor {
  return new Descriptor(libc.openat2(root.fd, path, O.PATH | O.CLOEXEC, 0, resolve));
}

/**
 * The directory in which a source is to be made; undefined if it is not there.
 * @throws VolumeError SymlinkInPath: a link would say where, in another's name, something is made
 */
export function openSourceParent(libc: Libc, source: SourcePath, way: Way): Descriptor | undefined {
  try {
    return openSource(libc, { ...source, path: parentOf(source.path) }, way === "followLinks" ? "refuseLinks" : way);
  } catch (error) {
    if (errnoOf(error) !== "ELOOP") throw error;
    const message = `${source.path} leads through a symbolic link, and is not there: name the real path, or make it`;
    throw new VolumeError("SymlinkInPath", "final", message, { cause: error });
  }
}

/** A target and the directory it is in, both held. */
export interface OpenTarget extends Disposable {
  readonly parent: Descriptor;
  readonly self: Descriptor;
  readonly name: string;
  readonly stat: KnownStat;
}

/** @returns undefined if the target is not there */
export function openTarget(libc: Libc, target: TargetPath): OpenTarget | undefined {
  const parent = openTargetParent(libc, target);
  if (parent === undefined) return undefined;
  const name = baseName(target.path);
  try {
    const self = new Descriptor(libc.openat2(parent.fd, name, O.PATH | O.NOFOLLOW | O.CLOEXEC, 0, beneath));
    const stat = knownStat(libc, self, { from: parent, name });
    if ((stat.mode & S_IFMT) !== symbolicLink) {
      return { parent, self, name, stat, [Symbol.dispose]: () => closeBoth(self, parent) };
    }
    self[Symbol.dispose](); // O_PATH opens a link itself instead of refusing it
    throw linkAt(target.path);
  } catch (error) {
    parent[Symbol.dispose]();
    if (errnoOf(error) === "ENOENT") return undefined;
    throw targetError(error, target);
  }
}

/** The directory that a target is in; undefined if it, or one above it, is not there. */
function openTargetParent(libc: Libc, target: TargetPath): Descriptor | undefined {
  const opened = unlessErrno(["ENOENT"], () => openPrefix(libc, target));
  if (opened === undefined) return undefined;
  const directory = relativePath(target.prefix, parentOf(target.path));
  if (directory === "") return opened;
  using prefix = opened;
  try {
    return new Descriptor(libc.openat2(prefix.fd, directory, O.PATH | O.DIRECTORY | O.CLOEXEC, 0, inOneMount));
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw targetError(error, target);
  }
}

/** The directory that a target is in, made with all that is missing above it (0755). */
export function makeTargetParent(libc: Libc, target: TargetPath): Descriptor {
  const there = openTargetParent(libc, target); // as it is for most targets
  if (there !== undefined) return there;
  const prefix = unlessErrno(["ENOENT"], () => openPrefix(libc, target));
  if (prefix === undefined) {
    throw new VolumeError(
      "SetUpFailed",
      "transient",
      `${target.prefix} is not there: nothing is mounted in it until it is`,
    );
  }
  let current = prefix;
  for (const segment of relativePath(target.prefix, parentOf(target.path)).split("/").filter(Boolean)) {
    using above = current;
    try {
      makeDirectoryAt(libc, above, segment, 0o755);
      current = new Descriptor(libc.openat2(above.fd, segment, O.PATH | O.DIRECTORY | O.CLOEXEC, 0, inOneMount));
    } catch (error) {
      throw targetError(error, target);
    }
  }
  return current;
}

/** mkdirat(2) that takes what is there already. */
export function makeDirectoryAt(libc: Libc, parent: Descriptor, name: string, mode: number): void {
  unlessErrno(["EEXIST"], () => libc.mkdirat(parent.fd, name, mode));
}

/** PURE. The type of a file by its st_mode. */
export function kindOf(stat: Pick<Statx, "mode">): FileKind {
  switch (stat.mode & S_IFMT) {
    case 0o040000:
      return "directory";
    case 0o100000:
      return "file";
    case 0o140000:
      return "socket";
    case 0o020000:
      return "charDevice";
    case 0o060000:
      return "blockDevice";
    default:
      return "other";
  }
}

/** PURE. The directory that a path is in; "/" for a path beneath the root. */
export function parentOf(path: string): string {
  return path.slice(0, Math.max(1, path.lastIndexOf("/")));
}

/** PURE. The last part of a path. */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** @throws VolumeError DotDotInPath: such a path is not what it seems to be, and the table never shows it */
function refuseDots(path: string): void {
  if (hasDots(path))
    throw new VolumeError("DotDotInPath", "final", `${path} has a segment "." or "..": name the real path`);
}

/** What a failed walk to a target means to the user. */
export function targetError(error: unknown, target: TargetPath): unknown {
  switch (errnoOf(error)) {
    case "ELOOP":
      return linkAt(target.path, error);
    case "EXDEV": // a way out, by ".." or an absolute link, is met before: that leaves a mount on the way
      return new VolumeError(
        "ForeignMountInPath",
        "final",
        `between ${target.prefix} and ${target.path} something is mounted: unmount that, or make it a prefix`,
        { cause: error, on: { kind: "Mount", name: parentOf(target.path) } },
      );
    case "ENOTDIR":
      return new VolumeError(
        "TargetNotDirectory",
        "final",
        `something on the way to ${target.path} is not a directory: move it away`,
        { cause: error },
      );
    default:
      return error;
  }
}

function linkAt(path: string, cause?: unknown): VolumeError {
  const message = `${path} leads through a symbolic link: name the real path`;
  return new VolumeError("SymlinkInPath", "final", message, { cause });
}

function openPrefix(libc: Libc, target: TargetPath): Descriptor {
  refuseDots(target.path);
  try {
    const flags = O.PATH | O.DIRECTORY | O.CLOEXEC;
    return new Descriptor(libc.openat2(AT_FDCWD, target.prefix, flags, 0, RESOLVE.NO_SYMLINKS));
  } catch (error) {
    throw targetError(error, { prefix: target.prefix, path: target.prefix });
  }
}

function closeBoth(a: Descriptor, b: Descriptor): void {
  a[Symbol.dispose]();
  b[Symbol.dispose]();
}

/** The path of a source as the agent sees it, links not followed. */
export function sourceString(source: SourcePath): string {
  return joinPath(source.root, source.path.slice(1));
}
