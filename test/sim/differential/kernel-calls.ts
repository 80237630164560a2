import { closeSync, openSync } from "node:fs";
import koffi from "koffi";
import { Errno } from "../../../src/host/linux/syscall/errno.ts";

const CLONE_NEWNS = 0x0002_0000;
const POLLPRI = 2;
const EINTR = 4;
const S_IFCHR = 0o020000;

/** Flags of mount(2). */
export const MS = {
  REMOUNT: 1 << 5,
  BIND: 1 << 12,
  MOVE: 1 << 13,
  REC: 1 << 14,
  PRIVATE: 1 << 18,
  SLAVE: 1 << 19,
  SHARED: 1 << 20,
  RDONLY: 1,
  NOSUID: 2,
  NODEV: 4,
  NOEXEC: 8,
  NOSYMFOLLOW: 256,
  NOATIME: 1024,
  NODIRATIME: 2048,
  RELATIME: 1 << 21,
  STRICTATIME: 1 << 24,
} as const;

export type KernelCalls = ReturnType<typeof loadKernelCalls>;

/**
 * The system calls that people make and the product does not. Of this process only the main thread changes namespace
 * and root, which is where all synchronous calls run. All throw Errno.
 */
export function loadKernelCalls() {
  const lib = koffi.load(null);
  const setns = lib.func("int setns(int fd, int type)");
  const unshare = lib.func("int unshare(int flags)");
  const chroot = lib.func("int chroot(str path)");
  const mount = lib.func("int mount(str source, str target, str type, ulong flags, str data)");
  const umount2 = lib.func("int umount2(str target, int flags)");
  const mknod = lib.func("int mknod(str path, uint mode, ulong device)");
  const poll = lib.func("int poll(void *fds, ulong count, int timeout)");
  const checked = (call: string, result: number): number => {
    if (result >= 0) return result;
    throw new Errno(call, koffi.errno());
  };
  return {
    /** Goes into a mount namespace of its own, a copy of the present one. @returns a descriptor of it */
    unshare(): number {
      checked("unshare", unshare(CLONE_NEWNS));
      return openSync("/proc/self/ns/mnt", "r");
    },
    /** Goes into a mount namespace, to its root directory. */
    enter(namespace: number): void {
      checked("setns", setns(namespace, CLONE_NEWNS));
    },
    chroot(path: string): void {
      checked("chroot", chroot(path));
    },
    mount(source: string, target: string, type: string, flags: number): void {
      checked("mount", mount(source, target, type, flags, null));
    },
    umount(target: string, flags: number): void {
      checked("umount2", umount2(target, flags));
    },
    /** A device node with the number 0:0, which is nobody's. */
    mknod(path: string): void {
      checked("mknod", mknod(path, S_IFCHR | 0o600, 0));
    },
    /** Whether the mount table behind an open mountinfo has changed since this was last asked. */
    changed(mountinfo: number): boolean {
      const entry = Buffer.alloc(8);
      entry.writeInt32LE(mountinfo, 0);
      entry.writeInt16LE(POLLPRI, 4);
      for (let found = -1; found < 0; ) {
        found = poll(entry, 1, 0);
        if (found < 0 && koffi.errno() !== EINTR) throw new Errno("poll", koffi.errno());
      }
      return (entry.readInt16LE(6) & POLLPRI) !== 0;
    },
    /** An open mount table of the namespace that the main thread is in; it stays with that namespace. */
    openTable: (): number => openSync("/proc/self/mountinfo", "r"),
    close: (fd: number): void => closeSync(fd),
  };
}
