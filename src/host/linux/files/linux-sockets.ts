import type { BigIntStats, Dirent } from "node:fs";
import { type FileHandle, open, readdir, stat } from "node:fs/promises";
import { messageOf } from "../../../errors.ts";
import type { Timers } from "../../../ports.ts";
import { joinPath } from "../../mount-table/mount-table.ts";
import type { SocketFile, Sockets, WatchedSockets } from "../../ports/sockets.ts";
import { parentOf } from "../path/walk.ts";
import { O } from "../syscall/constants.ts";
import { errnoOf } from "../syscall/errno.ts";
import { loadWakeCalls, type WakeCalls } from "../syscall/inotify-calls.ts";
import { Inotify } from "../wakeups/wake-inotify.ts";

/** Directories and sockets of one tree that are read: kubelet's has a handful. */
const most = 256;

/**
 * The real sockets. Every call is asynchronous and one runs after the other: should a path lead to a server that hangs,
 * it takes one of Node's threads and not the agent.
 */
export function linuxSockets(timers: Timers): Sockets {
  const calls = loadWakeCalls();
  return {
    async kindOf(path) {
      const found = await unlessNowhere(stat(path, { bigint: true }));
      return found && (found.isSocket() ? "socket" : "other");
    },
    watch: (directory, onChange) => new SocketTree({ calls, timers, directory, onChange }),
  };
}

interface SocketTreeDeps {
  readonly calls: WakeCalls;
  readonly timers: Timers;
  readonly directory: string;
  readonly onChange: () => void;
}

class SocketTree implements WatchedSockets {
  readonly #deps: SocketTreeDeps;
  #inotify: Inotify | undefined;
  /** Watches of the last read. */
  #watched: ReadonlySet<number> = new Set();
  #unavailable: string | undefined;
  #closed = false;

  constructor(deps: SocketTreeDeps) {
    this.#deps = deps;
  }

  async read(): Promise<readonly SocketFile[]> {
    this.#unavailable = undefined;
    const watches = new Set<number>();
    const found: { path: string; born: bigint; identity: string }[] = [];
    const directories = [this.#deps.directory];
    for (const directory of directories) {
      if (directories.length + found.length > most) throw new Error(`more than ${most} sockets and directories`);
      const entries = await this.#entriesOf(directory, watches);
      for (const entry of entries.filter(({ name }) => !name.startsWith("."))) {
        const path = joinPath(directory, entry.name);
        if (entry.isDirectory()) directories.push(path);
        const file =
          entry.isSocket() || entry.isSymbolicLink() ? await unlessNowhere(stat(path, { bigint: true })) : undefined;
        if (file?.isSocket()) found.push({ path, born: file.birthtimeNs, identity: identityOf(file) });
      }
    }
    this.#keep(watches);
    return found.sort((a, b) => Number(a.born - b.born)).map(({ path, identity }) => ({ path, identity }));
  }

  unavailable(): string | undefined {
    return this.#unavailable;
  }

  close(): void {
    this.#closed = true;
    this.#inotify?.close();
    this.#inotify = undefined;
  }

  /** Listened to before it is read, so that nothing comes in between; if it is not there, to what it will come into. */
  async #entriesOf(directory: string, watches: Set<number>): Promise<Dirent[]> {
    if (await this.#listen(directory, watches)) {
      return (await unlessNowhere(readdir(directory, { withFileTypes: true }))) ?? [];
    }
    let above = parentOf(directory);
    while (!(await this.#listen(above, watches)) && above !== "/") above = parentOf(above);
    // It may have come before that was listened to.
    const come = await unlessNowhere(stat(directory));
    return come?.isDirectory() ? this.#entriesOf(directory, watches) : [];
  }

  /** @returns false if there is no such directory */
  async #listen(directory: string, watches: Set<number>): Promise<boolean> {
    const opened = await unlessNowhere(open(directory, O.DIRECTORY | O.CLOEXEC));
    if (opened === undefined) return false;
    try {
      this.#add(opened, watches);
    } finally {
      await opened.close();
    }
    return true;
  }

  #add({ fd }: FileHandle, watches: Set<number>): void {
    if (this.#closed) return;
    try {
      this.#inotify ??= this.#open();
      watches.add(this.#inotify.watchDirectory(fd));
    } catch (error) {
      if (errnoOf(error) === undefined) throw error;
      this.#unavailable = messageOf(error);
    }
  }

  #keep(watches: ReadonlySet<number>): void {
    for (const wd of this.#watched) if (!watches.has(wd)) this.#inotify?.unwatch(wd);
    this.#watched = watches;
  }

  #open(): Inotify {
    const { calls, timers, onChange } = this.#deps;
    const nothing = () => {};
    // Whatever it was, all of it is read again.
    return new Inotify({ calls, timers, onEvent: nothing, onGone: nothing, onOverflow: nothing, onRound: onChange });
  }
}

/** An inode number is given out again at once; the time at which the file was made is not. */
function identityOf({ dev, ino, birthtimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${birthtimeNs}`;
}

/** What leads nowhere: gone since it was listed, or a link in a circle. */
const nowhere = new Set(["ENOENT", "ENOTDIR", "ELOOP"]);

async function unlessNowhere<T>(look: Promise<T>): Promise<T | undefined> {
  try {
    return await look;
  } catch (error) {
    if (nowhere.has(errnoOf(error) ?? "")) return undefined;
    throw error;
  }
}
