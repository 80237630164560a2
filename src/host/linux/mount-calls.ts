import { closeSync } from "node:fs";
import koffi from "koffi";
import { AT_FDCWD, SYS } from "./constants.ts";
import { Errno } from "./errno.ts";

/** fanotify_mark(2) passes its 64-bit mask in one register on every architecture that Node has. */
const FAN = {
  CLOEXEC: 1,
  NONBLOCK: 2,
  REPORT_MNT: 0x4000,
  MARK_ADD: 1,
  MARK_MNTNS: 0x110,
  MNT_ATTACH: 0x1000000,
  MNT_DETACH: 0x2000000,
} as const;
/** Errnos that are no failures here; numbers that every architecture of Node has in common. */
const E = { INTR: 4, NOENT: 2, AGAIN: 11, OVERFLOW: 75 } as const;
const POLLPRI = 2;
/** ioctl_nsfs(2): _IOR(0xb7, 5, __u64). */
const NS_GET_MNTNS_ID = 0x8008b705;
/** listmount(2): from the root of the namespace on. */
const LSMT_ROOT = 0xffffffffffffffffn;
const idsAtOnce = 2_048;
/** struct mnt_id_req with mnt_ns_id (MNT_ID_REQ_SIZE_VER1). */
const requestBytes = 32;
/** What most mounts fit into; one that has longer strings is asked for again. */
const usualBytes = 4_096;
const mostBytes = 1 << 20;

/**
 * The calls that tell of mounts: statmount(2), listmount(2), fanotify(7), poll(2). None of them waits for a file system,
 * so they run on the main thread. All throw Errno. An id is below 2^53 for as long as a machine runs.
 */
export type MountCalls = ReturnType<typeof loadMountCalls>;

export function loadMountCalls() {
  const lib = koffi.load(null);
  const asking = lib.func("syscall", "long", ["long", "void *", "void *", "size_t", "uint"]);
  const fanotifyInit = lib.func("fanotify_init", "int", ["uint", "uint"]);
  const fanotifyMark = lib.func("fanotify_mark", "int", ["int", "uint", "uint64_t", "int", "str"]);
  const poll = lib.func("poll", "int", ["void *", "ulong", "int"]);
  const read = lib.func("read", "long", ["int", "void *", "size_t"]);
  const ioctl = lib.func("ioctl", "int", ["int", "ulong", "void *"]);
  const request = Buffer.alloc(requestBytes);
  const polled = Buffer.alloc(8);
  const ids = Buffer.alloc(8 * idsAtOnce);
  let answer = Buffer.alloc(usualBytes);

  // errno is only good in the statement after the call.
  const checked = (call: string, result: number): number => {
    if (result >= 0) return result;
    throw new Errno(call, koffi.errno());
  };
  const prepare = (id: bigint, parameter: bigint, namespace: bigint): void => {
    request.writeUInt32LE(requestBytes, 0);
    request.writeBigUInt64LE(id, 8);
    request.writeBigUInt64LE(parameter, 16);
    request.writeBigUInt64LE(namespace, 24);
  };

  return {
    /**
     * What the kernel says of one mount, as struct statmount, good until the next call; undefined if there is no mount of
     * this unique id in the namespace.
     * @param namespace its id; 0: that of the calling thread
     */
    statmount(id: number, mask: bigint, namespace: bigint): Buffer | undefined {
      prepare(BigInt(id), mask, namespace);
      for (;;) {
        if (asking(SYS.statmount, request, answer, answer.length, 0) >= 0) return answer;
        const errno = koffi.errno();
        if (errno === E.NOENT) return undefined;
        if (errno !== E.OVERFLOW || answer.length >= mostBytes) throw new Errno("statmount", errno);
        answer = Buffer.alloc(answer.length * 2);
      }
    },
    /** Unique ids of the mounts of a namespace that paths lead to, oldest first. */
    listmount(namespace: bigint): number[] {
      const all: number[] = [];
      for (;;) {
        prepare(LSMT_ROOT, BigInt(all.at(-1) ?? 0), namespace);
        const count = checked("listmount", asking(SYS.listmount, request, ids, idsAtOnce, 0));
        for (let at = 0; at < count; at++) all.push(ids.readUInt32LE(8 * at) + ids.readUInt32LE(8 * at + 4) * 2 ** 32);
        if (count < idsAtOnce) return all;
      }
    },
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
    /** Whether the table behind an open mountinfo has changed since this was asked of the same descriptor, or since open. */
    hasChanged(mountinfo: number): boolean {
      polled.writeInt32LE(mountinfo, 0);
      polled.writeInt32LE(POLLPRI, 4);
      for (;;) {
        if (poll(polled, 1, 0) >= 0) return (polled.readInt16LE(6) & POLLPRI) !== 0;
        const errno = koffi.errno();
        if (errno !== E.INTR) throw new Errno("poll", errno); // never begun again by the kernel: signal(7)
      }
    },
    /** The id of the mount namespace that a file of /proc/PID/ns is open on. */
    namespaceID(fd: number): bigint {
      const id = Buffer.alloc(8);
      checked("ioctl", ioctl(fd, NS_GET_MNTNS_ID, id));
      return id.readBigUInt64LE(0);
    },
  };
}
