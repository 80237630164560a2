import koffi, { type LibraryHandle } from "koffi";
import { ownNumbers } from "./architecture.ts";
import {
  AT_EMPTY_PATH,
  E,
  KCMP_FILES,
  KCMP_VM,
  MAX_HANDLE_SZ,
  MFD_CLOEXEC,
  RENAME_NOREPLACE,
  RLIMIT_CORE,
  STATX,
  SYS,
} from "./constants.ts";
import type { Descriptor } from "./descriptor.ts";
import { Errno } from "./errno.ts";
import { statx as AT, file_handle, mount_attr, open_how, rlimit } from "./layouts.ts";
import { loadMountLinks } from "./mount-links.ts";

/** What statx(2) says of a path or descriptor. */
export interface Statx {
  readonly mode: number;
  readonly gid: number;
  readonly size: number;
  readonly inode: number;
  /** `major:minor` of the file system. */
  readonly device: string;
  /** `major:minor` that a device node stands for. */
  readonly deviceNumber: string;
  readonly mountID: number;
  /** Whether it is the root of a mount. */
  readonly mountRoot: boolean;
}

/** How often a walk that was disturbed is begun again: each takes a few µs. */
const disturbances = 1000;

/** Not all threads of the pool (UV_THREADPOOL_SIZE in the Dockerfile): the journal is written by one of them. */
const unmountsAtOnce = 12;

/**
 * The system calls that Node does not have, called on the main thread: each takes microseconds on a local file system
 * and must not be used on another, where it may wait for a server for ever. All throw Errno.
 */
export type Libc = ReturnType<typeof loadLibc>;

/** Binds the system calls (koffi). Call once a process, and only on local file systems: see `Libc`. */
export function loadLibc() {
  const lib = koffi.load(null);
  return {
    mounts: loadMountLinks(lib),
    handles: loadFileHandles(lib),
    ...fileCalls(lib),
    ...mountCalls(lib),
    ...processCalls(lib),
  };
}

function syscall(lib: LibraryHandle, ...types: string[]) {
  return lib.func("syscall", "long", ["long", ...types]);
}

/** errno is only good in the statement after the call: any call of Node in between may change it. @throws Errno */
export function checked(call: string, result: number, detail?: string): number {
  if (result >= 0) return result;
  throw new Errno(call, koffi.errno(), detail);
}

/** Files and descriptors. */
function fileCalls(lib: LibraryHandle) {
  const openat2 = syscall(lib, "int", "str", "void *", "size_t");
  const statx = lib.func("statx", "int", ["int", "str", "int", "uint", "void *"]);
  const mkdirat = lib.func("mkdirat", "int", ["int", "str", "uint"]);
  const unlinkat = lib.func("unlinkat", "int", ["int", "str", "int"]);
  const fchownat = lib.func("fchownat", "int", ["int", "str", "uint", "uint", "int"]);
  const renameat = lib.func("renameat", "int", ["int", "str", "int", "str"]);
  const renameat2 = lib.func("renameat2", "int", ["int", "str", "int", "str", "uint"]);
  const dup2 = lib.func("dup2", "int", ["int", "int"]);
  const memfdCreate = lib.func("memfd_create", "int", ["str", "uint"]);
  const pipe = lib.func("pipe", "int", ["void *"]);
  const flock = lib.func("flock", "int", ["int", "int"]);

  // Used again by each call: it is over when the call returns.
  const how = Buffer.alloc(open_how.bytes);
  const out = Buffer.alloc(AT.bytes);

  return {
    /**
     * openat2(2)
     * @returns a descriptor that the caller closes. The kernel gives up (EAGAIN) on a walk with ".." in it that may not
     *   leave a directory if anything at all is renamed or mounted on the node meanwhile, by any pod: then it is begun
     *   again.
     */
    openat2(dir: number, path: string, flags: number, mode: number, resolve: number): number {
      how.writeUInt32LE(flags, open_how.flags); // of 64 bits each, of which no flag takes the upper half
      how.writeUInt32LE(mode, open_how.mode);
      how.writeUInt32LE(resolve, open_how.resolve);
      for (let attempt = 0; ; attempt++) {
        const result = openat2(SYS.openat2, dir, path, how, how.length);
        if (result >= 0) return result;
        const errno = koffi.errno();
        if (errno !== E.AGAIN || attempt === disturbances) throw new Errno("openat2", errno, path);
      }
    },
    statx(dir: number, path: string, flags: number): Statx {
      checked("statx", statx(dir, path, flags, STATX.BASIC_STATS | STATX.MNT_ID, out), path);
      return {
        gid: out.readUInt32LE(AT.stx_gid),
        mode: out.readUInt16LE(AT.stx_mode),
        inode: read64(out, AT.stx_ino),
        size: read64(out, AT.stx_size),
        deviceNumber: `${out.readUInt32LE(AT.stx_rdev_major)}:${out.readUInt32LE(AT.stx_rdev_minor)}`,
        device: `${out.readUInt32LE(AT.stx_dev_major)}:${out.readUInt32LE(AT.stx_dev_minor)}`,
        mountID: read64(out, AT.stx_mnt_id),
        mountRoot: (out.readUInt32LE(AT.stx_attributes) & STATX.ATTR_MOUNT_ROOT) !== 0,
      };
    },
    mkdirat(dir: number, name: string, mode: number): void {
      checked("mkdirat", mkdirat(dir, name, mode), name);
    },
    /** fchownat(2) of what a descriptor stands for, also one that is open for nothing (O_PATH); its owner stays. */
    changeGroup(fd: number, gid: number): void {
      checked("fchownat", fchownat(fd, "", 0xffffffff, gid, AT_EMPTY_PATH));
    },
    unlinkat(dir: number, name: string, flags: number): void {
      checked("unlinkat", unlinkat(dir, name, flags), name);
    },
    renameat(fromDir: number, from: string, toDir: number, to: string): void {
      checked("renameat", renameat(fromDir, from, toDir, to), from);
    },
    /** renameat2(2) with RENAME_NOREPLACE: EEXIST if the new name is taken. */
    renameFree(fromDir: number, from: string, toDir: number, to: string): void {
      checked("renameat2", renameat2(fromDir, from, toDir, to, RENAME_NOREPLACE), from);
    },
    /** pipe(2) @returns descriptors that the caller closes */
    pipe(): { readonly read: number; readonly write: number } {
      const ends = Buffer.alloc(8);
      checked("pipe", pipe(ends));
      return { read: ends.readInt32LE(0), write: ends.readInt32LE(4) };
    },
    dup2(from: number, to: number): void {
      checked("dup2", dup2(from, to));
    },
    /** memfd_create(2), closed when a program is run @returns a descriptor that the caller closes */
    memoryFile(name: string): number {
      return checked("memfd_create", memfdCreate(name, MFD_CLOEXEC));
    },
    flock(fd: number, operation: number): void {
      checked("flock", flock(fd, operation));
    },
  };
}

/** Mounts that are made, changed and taken away. */
function mountCalls(lib: LibraryHandle) {
  const openTree = syscall(lib, "int", "str", "uint");
  const moveMount = syscall(lib, "int", "str", "int", "str", "uint");
  const fsopen = syscall(lib, "str", "uint");
  const fsconfig = syscall(lib, "int", "uint", "str", "str", "int");
  const fsmount = syscall(lib, "int", "uint", "uint");
  const fspick = syscall(lib, "int", "str", "uint");
  const mountSetattr = syscall(lib, "int", "str", "uint", "void *", "size_t");
  const umount2 = lib.func("umount2", "int", ["str", "int"]);

  return {
    openTree(dir: number, path: string, flags: number): number {
      return checked("open_tree", openTree(SYS.open_tree, dir, path, flags), path);
    },
    moveMount(from: number, to: number, flags: number): void {
      checked("move_mount", moveMount(SYS.move_mount, from, "", to, "", flags));
    },
    fsopen(fsType: string, flags: number): number {
      return checked("fsopen", fsopen(SYS.fsopen, fsType, flags), fsType);
    },
    fsconfig(fd: number, command: number, key: string | null, value: string | null): void {
      checked("fsconfig", fsconfig(SYS.fsconfig, fd, command, key, value, 0), key ?? undefined);
    },
    fsmount(fd: number, flags: number, attributes: number): number {
      return checked("fsmount", fsmount(SYS.fsmount, fd, flags, attributes));
    },
    fspick(fd: number, flags: number): number {
      return checked("fspick", fspick(SYS.fspick, fd, "", flags));
    },
    /** mount_setattr(2) on the mount that the descriptor is in; with AT_RECURSIVE also on what is mounted in it. */
    mountSetattr(fd: number, set: number, clear: number, propagation: number, flags = 0): void {
      const attr = Buffer.alloc(mount_attr.bytes);
      attr.writeBigUInt64LE(BigInt(set), mount_attr.attr_set);
      attr.writeBigUInt64LE(BigInt(clear), mount_attr.attr_clr);
      attr.writeBigUInt64LE(BigInt(propagation), mount_attr.propagation);
      checked("mount_setattr", mountSetattr(SYS.mount_setattr, fd, "", AT_EMPTY_PATH | flags, attr, attr.length));
    },
    umount2(path: string, flags: number): void {
      checked("umount2", umount2(path, flags), path);
    },
    /** For those who unmount in another thread. */
    unmounts: new Slots(unmountsAtOnce),
    /**
     * umount2(2) on another thread: it waits until no processor looks at the mount any more, about 0.1 ms, and those
     * that wait at the same time wait together. errno stays in that thread. @returns whether it succeeded
     */
    umount2InThread(path: string, flags: number): Promise<boolean> {
      return new Promise((resolve, reject) => {
        umount2.async(path, flags, (error: Error | null, result: number) => {
          if (error === null) resolve(result >= 0);
          else reject(error);
        });
      });
    },
  };
}

/** What processes share, and what they may. */
function processCalls(lib: LibraryHandle) {
  const kcmp = syscall(lib, "int", "int", "int", "ulong", "ulong");
  const { kcmp: kcmpNumber } = ownNumbers();
  const share = (what: number, one: number, other: number) => kcmp(kcmpNumber, one, other, what, 0, 0) === 0;
  const setrlimit = lib.func("setrlimit", "int", ["int", "void *"]);

  return {
    /** Whether two threads share their open files (kcmp(2)); false also where that cannot be told. */
    sharesFiles: (one: number, other: number): boolean => share(KCMP_FILES, one, other),
    /** The same of their memory: a child that posix_spawn(3) has not made another program yet shares its parent's. */
    sharesMemory: (one: number, other: number): boolean => share(KCMP_VM, one, other),
    /**
     * From here on no core file of this process, nor of what it starts, is written, nor handed to a program of the
     * node: passphrases and keys are in their memory. A limit of 0 is not asked for where a program gets them; one of 1
     * is (core(5)).
     */
    leaveNoCores(): void {
      const limit = Buffer.alloc(rlimit.bytes);
      limit.writeBigUInt64LE(1n, rlimit.rlim_cur);
      limit.writeBigUInt64LE(1n, rlimit.rlim_max);
      checked("setrlimit", setrlimit(RLIMIT_CORE, limit));
    },
  };
}

function read64(from: Buffer, at: number): number {
  return from.readUInt32LE(at) + from.readUInt32LE(at + 4) * 2 ** 32;
}

/** What a file system calls a file, apart from every path to it (open_by_handle_at(2)). All throw Errno. */
export interface FileHandles {
  /** ENOTSUP, as libuv calls EOPNOTSUPP: the file system has no handles (overlayfs mostly). */
  handleOf(file: Descriptor): Buffer;
  /**
   * @param mount a directory in the mount that the file is to be opened through, not O_PATH. Needs CAP_DAC_READ_SEARCH.
   */
  openHandle(mount: Descriptor, handle: Buffer, flags: number): number;
}

/** Binds name_to_handle_at(2) and open_by_handle_at(2). */
export function loadFileHandles(lib: LibraryHandle): FileHandles {
  const nameToHandle = lib.func("name_to_handle_at", "int", ["int", "str", "void *", "void *", "int"]);
  const openByHandle = lib.func("open_by_handle_at", "int", ["int", "void *", "int"]);
  return {
    handleOf(file) {
      const handle = Buffer.alloc(file_handle.bytes + MAX_HANDLE_SZ);
      handle.writeUInt32LE(MAX_HANDLE_SZ, file_handle.handle_bytes);
      const mountID = Buffer.alloc(4);
      if (nameToHandle(file.fd, "", handle, mountID, AT_EMPTY_PATH) === 0) return handle;
      throw new Errno("name_to_handle_at", koffi.errno());
    },
    openHandle(mount, handle, flags) {
      const fd: number = openByHandle(mount.fd, handle, flags);
      if (fd >= 0) return fd;
      throw new Errno("open_by_handle_at", koffi.errno());
    },
  };
}

/** Lets so many through at a time, the others in the order in which they came. */
export class Slots {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  /** Resolves when there is a slot. @returns gives it to the next one when it is disposed of */
  async take(): Promise<Disposable> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return { [Symbol.dispose]: () => this.#giveBack() };
  }

  #giveBack(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }
}
