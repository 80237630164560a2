import { closeSync } from "node:fs";
import koffi from "koffi";
import { AT_FDCWD, E, FAN, IOCTL, POLLPRI } from "./constants.ts";
import { Errno } from "./errno.ts";
import { mnt_ns_info, pollfd } from "./layouts.ts";
import { loadMountQueries } from "./mount-queries.ts";

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
    /**
     * Whether the table behind an open mountinfo has changed since this was asked of the same descriptor, or since
     * open.
     */
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
