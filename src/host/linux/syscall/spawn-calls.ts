import { closeSync } from "node:fs";
import { constants } from "node:os";
import koffi from "koffi";
import { AF, POSIX_SPAWN, SOCK, WNOHANG } from "./constants.ts";
import { Errno } from "./errno.ts";
import { type Ending, endingOf } from "./process-ending.ts";

/** Room for what the C library keeps in each (336 and 80 bytes of glibc and musl), and bytes of a sigset_t. */
export const attributesRoom = 512;
export const actionsRoom = 256;
export const signalSetBytes = 128;

/** What it takes to start a program without fork(2). All throw Errno. */
export type SpawnCalls = ReturnType<typeof loadSpawnCalls>;

/** Binds posix_spawn(3). */
export function loadSpawnCalls() {
  const lib = koffi.load(null);
  const spawn = lib.func("posix_spawn", "int", ["void *", "str", "void *", "void *", "str *", "str *"]);
  const initActions = lib.func("posix_spawn_file_actions_init", "int", ["void *"]);
  const addDup2 = lib.func("posix_spawn_file_actions_adddup2", "int", ["void *", "int", "int"]);
  const destroyActions = lib.func("posix_spawn_file_actions_destroy", "int", ["void *"]);
  const initAttributes = lib.func("posix_spawnattr_init", "int", ["void *"]);
  const setFlags = lib.func("posix_spawnattr_setflags", "int", ["void *", "short"]);
  const setDefaults = lib.func("posix_spawnattr_setsigdefault", "int", ["void *", "void *"]);
  const setMask = lib.func("posix_spawnattr_setsigmask", "int", ["void *", "void *"]);
  const socketpair = lib.func("socketpair", "int", ["int", "int", "int", "void *"]);
  const waitpid = lib.func("waitpid", "int", ["int", "void *", "int"]);

  // Unlike the others these give the errno itself.
  const checked = (call: string, errno: number): void => {
    if (errno !== 0) throw new Errno(call, errno);
  };

  // Node ignores SIGPIPE, and exec(2) would leave that to the program; of the mask it may have blocked some for a
  // moment.
  const attributes = Buffer.alloc(attributesRoom);
  checked("posix_spawnattr_init", initAttributes(attributes));
  // Without a number, each leads a group of its own: what it has started can be ended with it.
  const flags = POSIX_SPAWN.SETPGROUP | POSIX_SPAWN.SETSIGDEF | POSIX_SPAWN.SETSIGMASK;
  checked("posix_spawnattr_setflags", setFlags(attributes, flags));
  checked("posix_spawnattr_setsigdefault", setDefaults(attributes, Buffer.alloc(signalSetBytes, 0xff)));
  checked("posix_spawnattr_setsigmask", setMask(attributes, Buffer.alloc(signalSetBytes)));

  return {
    /**
     * posix_spawn(3). This thread waits until the program is loaded.
     * @param stdio descriptors that are its 0, 1 and 2; of the others it gets those without O_CLOEXEC
     * @returns the pid
     */
    spawn(file: string, args: readonly string[], env: readonly string[], stdio: readonly number[]): number {
      const pid = Buffer.alloc(4);
      const actions = Buffer.alloc(actionsRoom);
      checked("posix_spawn_file_actions_init", initActions(actions));
      try {
        for (const [number, fd] of stdio.entries()) {
          checked("posix_spawn_file_actions_adddup2", addDup2(actions, fd, number));
        }
        checked("posix_spawn", spawn(pid, file, actions, attributes, [file, ...args, null], [...env, null]));
      } finally {
        destroyActions(actions);
      }
      return pid.readInt32LE(0);
    },
    /** socketpair(2) @returns two descriptors that are connected, which the caller closes */
    socketPair(): [number, number] {
      const pair = Buffer.alloc(8);
      const result = socketpair(AF.UNIX, SOCK.STREAM | SOCK.CLOEXEC, 0, pair);
      if (result !== 0) throw new Errno("socketpair", koffi.errno());
      return [pair.readInt32LE(0), pair.readInt32LE(4)];
    },
    /** waitpid(2) @returns how a child of ours has ended, which is told once; undefined while it runs */
    reap(pid: number): Ending | undefined {
      const status = Buffer.alloc(4);
      const result = waitpid(pid, status, WNOHANG);
      if (result === 0) return undefined;
      if (result < 0) throw new Errno("waitpid", koffi.errno(), `${pid}`);
      return endingOf(status.readInt32LE(0), constants.signals);
    },
  };
}

/** Closes each of some descriptors. */
export function closeAll(fds: readonly number[]): void {
  for (const fd of fds) closeSync(fd);
}
