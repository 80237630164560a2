import koffi from "koffi";
import { ownNumbers } from "./architecture.ts";
import {
  AT_SYMLINK_NOFOLLOW,
  LINUX_CAPABILITY_VERSION_3,
  PR_CAP_AMBIENT,
  PR_CAP_AMBIENT_CLEAR_ALL,
  PR_CAPBSET,
  PR_SET_NO_NEW_PRIVS,
  SECCOMP,
} from "./constants.ts";
import {
  __user_cap_data_struct as data,
  __user_cap_header_struct as header,
  sock_filter,
  timespec,
} from "./layouts.ts";
import { checked } from "./libc.ts";

const second = 1_000_000_000n;

/**
 * What it takes to leave the node's file tree, to give up system calls, and to write a file tree of our own, beside
 * what libc.ts has. All throw Errno.
 */
export type SandboxCalls = ReturnType<typeof loadSandboxCalls>;

/** Binds the system calls that a child needs to enter a sandbox. */
export function loadSandboxCalls() {
  const lib = koffi.load(null);
  const unshare = lib.func("unshare", "int", ["int"]);
  const setns = lib.func("setns", "int", ["int", "int"]);
  const pivotRoot = lib.func("pivot_root", "int", ["str", "str"]);
  const symlinkat = lib.func("symlinkat", "int", ["str", "int", "str"]);
  const linkat = lib.func("linkat", "int", ["int", "str", "int", "str", "int"]);
  const utimensat = lib.func("utimensat", "int", ["int", "str", "void *", "int"]);
  const syncfs = lib.func("syncfs", "int", ["int"]);
  const prctl = lib.func("prctl", "int", ["int", "ulong", "ulong", "ulong", "ulong"]);
  const capget = lib.func("capget", "int", ["void *", "void *"]);
  const capset = lib.func("capset", "int", ["void *", "void *"]);
  // struct sock_fprog, laid out by the C ABI: it has a pointer in it.
  const program = koffi.pointer(koffi.struct({ len: "uint16_t", filter: "void *" }));
  const seccomp = lib.func("syscall", "long", ["long", "uint", "uint", program]);
  const { seccomp: seccompNumber } = ownNumbers();
  return {
    /** unshare(2), of the calling thread and what it starts. */
    unshare(flags: number): void {
      checked("unshare", unshare(flags));
    },
    /** setns(2), of the calling thread and what it starts. */
    setns(fd: number, type: number): void {
      checked("setns", setns(fd, type));
    },
    /** prctl(2) PR_SET_NO_NEW_PRIVS: no program gives this thread, or what it starts, rights that it does not have. */
    gainNothing(): void {
      checked("prctl", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    },
    /**
     * capset(2), prctl(2): this thread, and what it becomes and starts, has at most these capabilities. They leave its
     * bounding set as well, so that root gets none of the others by running a program. Nothing is inherited.
     * @param kept numbers of capabilities; those that it does not have it does not get
     */
    keepCapabilities(kept: readonly number[]): void {
      for (let one = 0; ; one++) {
        const has = prctl(PR_CAPBSET.READ, one, 0, 0, 0);
        if (has < 0) break; // the kernel has no capability of that number
        if (has > 0 && !kept.includes(one)) checked("prctl", prctl(PR_CAPBSET.DROP, one, 0, 0, 0), `capability ${one}`);
      }
      checked("prctl", prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0));
      const ofThis = Buffer.alloc(header.bytes);
      ofThis.writeUInt32LE(LINUX_CAPABILITY_VERSION_3, header.version);
      const sets = Buffer.alloc(2 * data.bytes);
      checked("capget", capget(ofThis, sets));
      for (const half of [0, 1]) {
        const at = half * data.bytes;
        const bits = kept.reduce((all, one) => (one >> 5 === half ? all | (1 << (one & 31)) : all), 0);
        const left = (sets.readUInt32LE(at + data.permitted) & bits) >>> 0;
        for (const set of [data.effective, data.permitted]) sets.writeUInt32LE(left, at + set);
        sets.writeUInt32LE(0, at + data.inheritable);
      }
      checked("capset", capset(ofThis, sets));
    },
    /**
     * seccomp(2): from here on each call of each thread of this process, and of what they start, goes through a filter.
     * @param instructions each a struct sock_filter
     * @throws Error if a thread has a filter of its own
     */
    filterCalls(instructions: Buffer): void {
      const all = { len: instructions.length / sock_filter.bytes, filter: instructions };
      const thread = seccomp(seccompNumber, SECCOMP.SET_MODE_FILTER, SECCOMP.FILTER_FLAG_TSYNC, all);
      checked("seccomp", thread);
      if (thread > 0) throw new Error(`seccomp: the thread ${thread} has a filter of its own`);
    },
    pivotRoot(newRoot: string, putOld: string): void {
      checked("pivot_root", pivotRoot(newRoot, putOld));
    },
    symlinkat(target: string, dir: number, name: string): void {
      checked("symlinkat", symlinkat(target, dir, name), name);
    },
    /** linkat(2) of a file itself: no link is followed. */
    linkat(fromDir: number, from: string, toDir: number, to: string): void {
      checked("linkat", linkat(fromDir, from, toDir, to, 0), to);
    },
    /** utimensat(2), of a link itself: when it was read and changed last, in nanoseconds since 1970. */
    setTime(dir: number, name: string, time: bigint): void {
      const times = Buffer.alloc(2 * timespec.bytes);
      const seconds = time / second - (time % second < 0n ? 1n : 0n);
      for (const at of [0, timespec.bytes]) {
        times.writeBigInt64LE(seconds, at + timespec.tv_sec);
        times.writeBigInt64LE(time - seconds * second, at + timespec.tv_nsec);
      }
      checked("utimensat", utimensat(dir, name, times, AT_SYMLINK_NOFOLLOW), name);
    },
    /** syncfs(2): all that was written to the file system of a descriptor is on its disk. */
    syncfs(fd: number): void {
      checked("syncfs", syncfs(fd));
    },
  };
}
