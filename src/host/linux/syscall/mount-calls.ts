import { closeSync } from "node:fs";
import koffi, { type LibraryHandle } from "koffi";
import { AT_FDCWD, E, FAN, IOCTL, LSMT_ROOT, MNT_ID_REQ_SIZE, POLLPRI, SYS } from "./constants.ts";
import { Errno, errnoOf, unlessErrno } from "./errno.ts";
import { mnt_id_req, mnt_ns_info, pollfd } from "./layouts.ts";

/**
 * The calls that tell of mounts: statmount(2), listmount(2), fanotify(7), poll(2). None of them waits for a file
 * system, so they run on the main thread. All throw Errno. An id is below 2^53 for as long as a machine runs.
 */
export type MountCalls = ReturnType<typeof loadMountCalls>;

/** Binds the system calls of mounts that the agent's own process may make. */
export function loadMountCalls() {
  const lib = koffi.load(null);
  const fanotifyInit = lib.func("fanotify_init", "int", ["uint", "uint"]);
  // Its 64-bit mask is in one register on each architecture of byArchitecture.
  const fanotifyMark = lib.func("fanotify_mark", "int", ["int", "uint", "uint64_t", "int", "str"]);
  const poll = lib.func("poll", "int", ["void *", "ulong", "int"]);
  const read = lib.func("read", "long", ["int", "void *", "size_t"]);
  const ioctl = lib.func("ioctl", "int", ["int", "ulong", "void *"]);
  const polled = Buffer.alloc(pollfd.bytes);
  const info = Buffer.alloc(mnt_ns_info.bytes);
  const emptied = (buffer: Buffer): Buffer => {
    buffer.fill(0).writeUInt32LE(mnt_ns_info.bytes, mnt_ns_info.size);
    return buffer;
  };

  // errno is only good in the statement after the call.
  const checked = (call: string, result: number): number => {
    if (result >= 0) return result;
    throw new Errno(call, koffi.errno());
  };
  return {
    ...loadMountQueries(lib),
    /** A descriptor from which the mounts that come, move and go in a mount namespace can be read; never waits. */
    watchNamespace(namespaceFile: string): number {
      const fd = checked("fanotify_init", fanotifyInit(FAN.CLOEXEC | FAN.NONBLOCK | FAN.REPORT_MNT, 0));
      const events = FAN.MNT_ATTACH | FAN.MNT_DETACH;
      const marked = fanotifyMark(fd, FAN.MARK_ADD | FAN.MARK_MNTNS, events, AT_FDCWD, namespaceFile);
      const errno = koffi.errno();
      if (marked >= 0) return fd;
      closeSync(fd);
      throw new Errno("fanotify_mark", errno);
    },
    /** @returns bytes read; 0 if there is nothing now */
    read(fd: number, into: Buffer): number {
      const length = read(fd, into, into.length);
      if (length >= 0) return length;
      const errno = koffi.errno();
      if (errno === E.AGAIN) return 0;
      throw new Errno("read", errno);
    },
    /** Whether the table of an open mountinfo has changed since this was asked of the descriptor, or since open. */
    hasChanged(mountinfo: number): boolean {
      polled.writeInt32LE(mountinfo, pollfd.fd);
      polled.writeInt32LE(POLLPRI, pollfd.events);
      for (;;) {
        if (poll(polled, 1, 0) >= 0) return (polled.readInt16LE(pollfd.revents) & POLLPRI) !== 0;
        const errno = koffi.errno();
        if (errno !== E.INTR) throw new Errno("poll", errno); // never begun again by the kernel: signal(7)
      }
    },
    /** The id of the mount namespace that a file of /proc/PID/ns is open on. */
    namespaceID(fd: number): bigint {
      const id = Buffer.alloc(8);
      checked("ioctl", ioctl(fd, IOCTL.NS_GET_MNTNS_ID, id));
      return id.readBigUInt64LE(0);
    },
    /** What kind of namespace a file of nsfs is open on: CLONE_NEWNS and the like. */
    namespaceType(fd: number): number {
      return checked("ioctl NS_GET_NSTYPE", ioctl(fd, IOCTL.NS_GET_NSTYPE, null));
    },
    /** How many mounts the mount namespace has that a file is open on (Linux 6.12). */
    countMounts(fd: number): number {
      checked("ioctl NS_MNT_GET_INFO", ioctl(fd, IOCTL.NS_MNT_GET_INFO, emptied(info)));
      return info.readUInt32LE(mnt_ns_info.nr_mounts);
    },
    /**
     * The mount namespace with the next id, or the one before (Linux 6.12); undefined if there is none.
     * @returns a descriptor that the caller closes
     */
    namespaceBeside(fd: number, which: "GET_NEXT" | "GET_PREV"): number | undefined {
      const other = ioctl(fd, IOCTL[`NS_MNT_${which}`], emptied(info));
      if (other >= 0) return other;
      const errno = koffi.errno();
      if (errno === E.NOENT) return undefined;
      throw new Errno(`ioctl NS_MNT_${which}`, errno);
    },
  };
}

const idsAtOnce = 2_048;
/** What most mounts fit into; one that has longer strings is asked for again. */
const usualBytes = 4_096;
const mostBytes = 1 << 20;

/** statmount(2), listmount(2) (Linux 6.8): they wait for no file system. All throw Errno. 64-bit ids, below 2^53. */
export interface MountQueries {
  /**
   * What the kernel says of one mount, as struct statmount, good until the next call; undefined if there is no mount of
   * this unique id in the namespace.
   * @param namespace its id; 0: that of the calling thread
   */
  statmount(id: number, mask: bigint, namespace: bigint): Buffer | undefined;
  /** Unique ids of the mounts of a namespace that paths lead to, oldest first. */
  listmount(namespace: bigint): number[];
  /**
   * The next few unique ids of mounts beneath one, by which all is beneath undefined that paths lead to; oldest first.
   */
  listBeneath(of: { readonly namespace: bigint; readonly mount?: number }, after: number): number[];
  /** Whether anything is mounted on or in a mount of our own namespace. */
  hasChildren(id: number): boolean;
}

/** This kernel does not have the calls, or the container's system call filter does not let them through. */
const notThere: ReadonlySet<string> = new Set(["ENOSYS", "EPERM"]);

/** What `ask` finds by the calls; where they are not to be had, what mountinfo says. */
export function byIDOrText<A>(ask: () => A, byText: () => A): A {
  try {
    return ask();
  } catch (error) {
    if (!notThere.has(errnoOf(error) ?? "")) throw error;
    return byText();
  }
}

/** Binds statmount(2) and listmount(2). */
export function loadMountQueries(lib: LibraryHandle): MountQueries {
  const asking = lib.func("syscall", "long", ["long", "void *", "void *", "size_t", "uint"]);
  const request = Buffer.alloc(MNT_ID_REQ_SIZE.VER1);
  const ids = Buffer.alloc(8 * idsAtOnce);
  let answer = Buffer.alloc(usualBytes);

  const prepare = (id: bigint, parameter: bigint, namespace: bigint): void => {
    const { VER0, VER1 } = MNT_ID_REQ_SIZE;
    request.writeUInt32LE(namespace === 0n ? VER0 : VER1, mnt_id_req.size);
    request.writeBigUInt64LE(id, mnt_id_req.mnt_id);
    request.writeBigUInt64LE(parameter, mnt_id_req.param);
    request.writeBigUInt64LE(namespace, mnt_id_req.mnt_ns_id);
  };
  /** errno is only good in the statement after the call. */
  const list = (most: number): number => {
    const count: number = asking(SYS.listmount, request, ids, most, 0);
    if (count >= 0) return count;
    throw new Errno("listmount", koffi.errno());
  };

  const listBeneath: MountQueries["listBeneath"] = ({ namespace, mount }, after) => {
    prepare(mount === undefined ? LSMT_ROOT : BigInt(mount), BigInt(after), namespace);
    return Array.from({ length: list(idsAtOnce) }, (_, at) => {
      return ids.readUInt32LE(8 * at) + ids.readUInt32LE(8 * at + 4) * 2 ** 32;
    });
  };

  return {
    statmount(id, mask, namespace) {
      prepare(BigInt(id), mask, namespace);
      for (;;) {
        if (asking(SYS.statmount, request, answer, answer.length, 0) >= 0) return answer;
        const errno = koffi.errno();
        if (errno === E.NOENT) return undefined;
        if (errno !== E.OVERFLOW || answer.length >= mostBytes) throw new Errno("statmount", errno);
        answer = Buffer.alloc(answer.length * 2);
      }
    },
    listmount(namespace) {
      const all: number[] = [];
      for (;;) {
        const some = listBeneath({ namespace }, all.at(-1) ?? 0);
        all.push(...some);
        if (some.length < idsAtOnce) return all;
      }
    },
    listBeneath,
    hasChildren(id) {
      prepare(BigInt(id), 0n, 0n);
      return (unlessErrno(["ENOENT"], () => list(1)) ?? 0) > 0; // ENOENT: it is attached nowhere
    },
  };
}
