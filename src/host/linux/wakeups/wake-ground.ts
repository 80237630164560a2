import { isLocalMount, mayBlock } from "../../mount-table/may-block.ts";
import { joinPath, type MountTable } from "../../mount-table/mount-table.ts";
import type { Found, Ground } from "../../ports/wake-walk.ts";
import { openKnown } from "../path/known-walk.ts";
import { kindOf } from "../path/walk.ts";
import { AT_EMPTY_PATH, AT_STATX_DONT_SYNC, O, RESOLVE, S_IFMT } from "../syscall/constants.ts";
import { Descriptor } from "../syscall/descriptor.ts";
import { errnoOf } from "../syscall/errno.ts";
import type { WakeCalls } from "../syscall/inotify-calls.ts";
import type { Libc, Statx } from "../syscall/libc.ts";
import type { Inotify } from "./wake-inotify.ts";

/** A directory on the way, held open until the walk has left it or is over; or the file at its end. */
export interface OpenDirectory {
  readonly fd: number;
  /** As the agent sees it, links resolved. */
  readonly path: string;
}

/** File systems that are local but whose files come and go without an event: the kernel makes them by itself. */
const silent = new Set(["proc", "sysfs"]);

const symbolicLink = 0o120000;
const oneName = RESOLVE.BENEATH | RESOLVE.NO_MAGICLINKS;

/** Dependencies of finding the first directory to watch on a path. */
export interface GroundInput {
  readonly libc: Libc;
  readonly calls: WakeCalls;
  readonly inotify: Inotify;
  /** The mounts that the agent sees now. */
  readonly table: MountTable;
  readonly root: string;
}

/**
 * The real file system, walked name by name from held descriptors, so that what others rename under our hands leads
 * nowhere else. A mount of a type that could hang is not entered; what the table does not show yet is not either.
 */
export class LinuxGround implements Ground<OpenDirectory>, Disposable {
  readonly #input: GroundInput;
  readonly #opened = new Map<number, Descriptor>();
  /** What was begun to listen to: names by watch; "" is the watched file itself. */
  readonly heard = new Map<number, Set<string>>();
  /** The name that was asked for last. */
  last: { readonly wd: number; readonly name: string } | undefined;

  constructor(input: GroundInput) {
    this.#input = input;
  }

  root(): Found<OpenDirectory> {
    const { libc, table, root } = this.#input;
    if (mayBlock(table, root)) return { kind: "unavailable", why: "mayHang" };
    const opened = openKnown(libc, root, table);
    const fd = this.#hold(opened);
    return {
      kind: "directory",
      directory: { fd, path: root },
      identity: identityOf(libc.statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC)),
    };
  }

  look(directory: OpenDirectory, name: string): Found<OpenDirectory> {
    const { libc, calls, inotify, table } = this.#input;
    const wd = inotify.watchDirectory(directory.fd);
    this.#listen(wd, name);
    const path = joinPath(directory.path, name);
    const mount = table.at(path);
    if (mount !== undefined && !isLocalMount(table, mount)) return { kind: "unavailable", why: "mayHang" };
    if (mount !== undefined && silent.has(mount.fsType)) return { kind: "unavailable", why: "unsupported" };
    const resolve = mount === undefined ? oneName | RESOLVE.NO_XDEV : oneName;
    try {
      using unless = new DisposableStack(); // a link is read, and not needed any more
      const opened = unless.use(
        new Descriptor(libc.openat2(directory.fd, name, O.PATH | O.NOFOLLOW | O.CLOEXEC, 0, resolve)),
      );
      const { fd } = opened;
      const stat = libc.statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC);
      // Another mount than the table has there: a directory above one was renamed, of which nobody is told.
      if (mount !== undefined && stat.mountID !== mount.id) return { kind: "missing" };
      const identity = identityOf(stat);
      if ((stat.mode & S_IFMT) === symbolicLink) return { kind: "link", to: calls.readLink(fd), identity };
      unless.move();
      const file = { fd: this.#hold(opened), path };
      return kindOf(stat) === "directory"
        ? { kind: "directory", directory: file, identity }
        : { kind: "file", file, identity };
    } catch (error) {
      // EXDEV: mounted since the table was read, of which the table tells next.
      if (["ENOENT", "ENOTDIR", "EXDEV"].includes(errnoOf(error) ?? "")) return { kind: "missing" };
      throw error;
    }
  }

  listenToFile({ fd }: OpenDirectory): void {
    this.#listen(this.#input.inotify.watchWriters(fd), "");
  }

  leave({ fd }: OpenDirectory): void {
    this.#opened.get(fd)?.[Symbol.dispose]();
    this.#opened.delete(fd);
  }

  [Symbol.dispose](): void {
    for (const descriptor of this.#opened.values()) descriptor[Symbol.dispose]();
  }

  /** Until it is left, or the walk is over. */
  #hold(opened: Descriptor): number {
    this.#opened.set(opened.fd, opened);
    return opened.fd;
  }

  #listen(wd: number, name: string): void {
    const names = this.heard.get(wd);
    if (names === undefined) this.heard.set(wd, new Set([name]));
    else names.add(name);
    if (name !== "") this.last = { wd, name };
  }
}

function identityOf({ mode, device, inode, mountID, deviceNumber }: Statx): string {
  return `${(mode & S_IFMT).toString(8)} ${device} ${inode} in ${mountID} for ${deviceNumber}`;
}
