import { closeSync } from "node:fs";
import koffi from "koffi";
import type { WatchUnavailable } from "../../ports/wakeups.ts";
import { AF, MSG_DONTWAIT, NETLINK_KOBJECT_UEVENT, O, SOCK, SYS } from "./constants.ts";
import { Errno } from "./errno.ts";
import { sockaddr_nl } from "./layouts.ts";
import { checked } from "./libc.ts";

/** The multicast group in which the kernel speaks; in group 2 udev repeats it for those who listen to udev. */
const kernelGroup = 1;
const longestLink = 4096;

/** System calls of the wake sources, which Node does not have. All throw Errno. */
export type WakeCalls = ReturnType<typeof loadWakeCalls>;

/** Binds inotify, pidfd and netlink calls. */
export function loadWakeCalls() {
  const lib = koffi.load(null);
  const inotifyInit1 = lib.func("int inotify_init1(int flags)");
  const inotifyAddWatch = lib.func("int inotify_add_watch(int fd, str path, uint mask)");
  const inotifyRmWatch = lib.func("int inotify_rm_watch(int fd, int wd)");
  const read = lib.func("long read(int fd, void *buffer, size_t length)");
  const readlinkat = lib.func("long readlinkat(int dir, str path, void *buffer, size_t length)");
  const pidfdOpen = lib.func("syscall", "long", ["long", "int", "uint"]);
  const socket = lib.func("int socket(int domain, int type, int protocol)");
  const bind = lib.func("int bind(int fd, void *address, uint length)");
  const recv = lib.func("long recv(int fd, void *buffer, size_t length, int flags)");

  return {
    /** inotify(7) @returns a descriptor that the caller closes, whose reads never wait */
    inotifyInit: (): number => checked("inotify_init1", inotifyInit1(O.CLOEXEC | O.NONBLOCK)),
    /**
     * @param file a descriptor: the path of one is the only way to name a file without a lookup that others can lead
     *   away
     */
    inotifyAddWatch: (fd: number, file: number, mask: number): number =>
      checked("inotify_add_watch", inotifyAddWatch(fd, `/proc/self/fd/${file}`, mask)),
    inotifyRemoveWatch: (fd: number, wd: number): void => {
      checked("inotify_rm_watch", inotifyRmWatch(fd, wd));
    },
    read: (fd: number, into: Buffer): number => checked("read", read(fd, into, into.length)),
    /** Where an open symbolic link leads. */
    readLink(link: number): string {
      const buffer = Buffer.alloc(longestLink);
      return buffer.toString("utf8", 0, checked("readlinkat", readlinkat(link, "", buffer, buffer.length)));
    },
    /**
     * pidfd_open(2)
     * @returns a descriptor that the caller closes; readable once all threads of the process have ended
     */
    pidfdOpen: (pid: number): number => checked("pidfd_open", pidfdOpen(SYS.pidfd_open, pid, 0)),
    /** A socket on which the kernel tells of its devices (netlink(7)). */
    openUevents(): number {
      const type = SOCK.RAW | SOCK.CLOEXEC | SOCK.NONBLOCK;
      const fd = checked("socket", socket(AF.NETLINK, type, NETLINK_KOBJECT_UEVENT));
      const address = Buffer.alloc(sockaddr_nl.bytes); // with port 0: the kernel chooses one
      address.writeUInt16LE(AF.NETLINK, sockaddr_nl.nl_family);
      address.writeUInt32LE(kernelGroup, sockaddr_nl.nl_groups);
      const bound = bind(fd, address, address.length);
      const errno = koffi.errno();
      if (bound >= 0) return fd;
      closeSync(fd);
      throw new Errno("bind", errno);
    },
    receive: (fd: number, into: Buffer): number => checked("recv", recv(fd, into, into.length, MSG_DONTWAIT)),
  };
}

const limits = new Set(["EMFILE", "ENFILE", "ENOSPC", "ENOMEM", "ENOBUFS"]);

/** Milliseconds after which a limit of the node is tried again: whoever is unavailable meanwhile waits by its delay. */
export const limitMs = 30_000;

/** Why nothing can be heard after a call failed with this errno. */
export function watchErrorReason(code: string): WatchUnavailable {
  return limits.has(code) ? "limit" : "unsupported";
}
