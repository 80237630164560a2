import { closeSync } from "node:fs";
import koffi from "koffi";
import type { Cancel, Timers } from "../../../ports.ts";
import { IN } from "../syscall/constants.ts";
import { errnoOf, unlessErrno } from "../syscall/errno.ts";
import type { WakeCalls } from "../syscall/inotify-calls.ts";
import { inotify_event as AT } from "../syscall/layouts.ts";

/** What changes where a name in a directory leads. Not what is read, written or listed, so that use costs nothing. */
const directoryMask = IN.CREATE | IN.DELETE | IN.MOVED_FROM | IN.MOVED_TO | IN.DELETE_SELF | IN.MOVE_SELF | IN.ONLYDIR;

/** Room for 2,000 events of one read; the kernel keeps 16,384 before it drops some and says so. */
const bufferBytes = 64 * 1024;
/**
 * Reads of one round: enough for a full queue; whoever makes events faster than they are read must not keep us here.
 */
const mostReads = 10;
/** Events of one round above which there is a storm: the next round is put off, so that they cost little. */
const stormEvents = 64;
/** Milliseconds for which a round is put off: doubled with each round of a storm. */
const pause = { first: 5, longest: 250 } as const;

/** Told of each event: the watch, and the name in its directory; "" of the watched file itself. */
type OnEvent = (wd: number, name: string) => void;

/** Dependencies of one inotify instance. */
export interface InotifyDeps {
  readonly calls: WakeCalls;
  readonly timers: Timers;
  readonly onEvent: OnEvent;
  /** The watch is gone, with what it watched. */
  readonly onGone: (wd: number) => void;
  /** The kernel has dropped events: anything may have changed. */
  readonly onOverflow: () => void;
  /** Called after the events of each round. */
  readonly onRound: () => void;
}

/**
 * One inotify instance (inotify(7)): users have only 128 of them, and kubelet and containers take from the same number.
 * Events are read on the main thread. However many there are, a round is read at most every `pause.longest`.
 */
export class Inotify {
  readonly #deps: InotifyDeps;
  readonly #fd: number;
  readonly #handle: ReturnType<typeof koffi.node.poll>;
  readonly #buffer = Buffer.alloc(bufferBytes);
  #pauseMs = 0;
  #resume: Cancel = () => {};

  /** @throws Errno EMFILE if the user has too many */
  constructor(deps: InotifyDeps) {
    this.#deps = deps;
    this.#fd = deps.calls.inotifyInit();
    this.#handle = koffi.node.poll(this.#fd, { readable: true }, () => this.#round());
  }

  /**
   * @param directory an open directory
   * @returns the watch: the same one for the same directory
   * @throws Errno ENOSPC if the user has too many
   */
  watchDirectory(directory: number): number {
    return this.#deps.calls.inotifyAddWatch(this.#fd, directory, directoryMask);
  }

  /** Tells when somebody who could write to an open file closes it. */
  watchWriters(file: number): number {
    return this.#deps.calls.inotifyAddWatch(this.#fd, file, IN.CLOSE_WRITE);
  }

  unwatch(wd: number): void {
    // EINVAL: it went with what it watched, and nobody was told yet
    unlessErrno(["EINVAL"], () => this.#deps.calls.inotifyRemoveWatch(this.#fd, wd));
  }

  close(): void {
    this.#resume();
    this.#handle.close();
    closeSync(this.#fd);
  }

  #round(): void {
    const events = this.#read();
    this.#deps.onRound();
    if (events < stormEvents) {
      this.#pauseMs = 0;
      return;
    }
    this.#pauseMs = Math.min(Math.max(this.#pauseMs * 2, pause.first), pause.longest);
    this.#handle.stop();
    this.#resume = this.#deps.timers.after(this.#pauseMs, () => {
      this.#handle.start({ readable: true }, () => this.#round());
    });
  }

  /** @returns how many events there were */
  #read(): number {
    let events = 0;
    try {
      for (let reads = 0; reads < mostReads; reads++) {
        events += this.#dispatch(this.#deps.calls.read(this.#fd, this.#buffer));
      }
    } catch (error) {
      if (errnoOf(error) !== "EAGAIN") throw error; // all of them were read
    }
    return events;
  }

  #dispatch(length: number): number {
    let events = 0;
    for (let at = 0; at < length; events++) {
      const wd = this.#buffer.readInt32LE(at + AT.wd);
      const mask = this.#buffer.readUInt32LE(at + AT.mask);
      const nameEnd = at + AT.bytes + this.#buffer.readUInt32LE(at + AT.len);
      if ((mask & IN.Q_OVERFLOW) !== 0) this.#deps.onOverflow();
      else if ((mask & IN.IGNORED) !== 0) this.#deps.onGone(wd);
      else this.#deps.onEvent(wd, nameOf(this.#buffer, at + AT.bytes, nameEnd));
      at = nameEnd;
    }
    return events;
  }
}

/** Names are padded with zeros. */
function nameOf(buffer: Buffer, from: number, to: number): string {
  if (from === to) return "";
  const zero = buffer.indexOf(0, from);
  return buffer.toString("utf8", from, zero >= 0 && zero < to ? zero : to);
}
