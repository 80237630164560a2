import { closeSync } from "node:fs";
import koffi from "koffi";
import type { Cancel, Clock, Timers } from "../../../ports.ts";
import type { WakeupListener, WatchUnavailable } from "../../ports/wakeups.ts";
import { errnoOf } from "../syscall/errno.ts";
import { limitMs, type WakeCalls, watchErrorReason } from "../syscall/inotify-calls.ts";

/** Longer than any message: the kernel keeps to 2 KiB (UEVENT_BUFFER_SIZE). */
const bufferBytes = 8 * 1024;
/**
 * Milliseconds after a change within which others are waited for, and told of with it. A disk with its partitions makes
 * a dozen; and udev lets the kernel tell of each program that has written to one, mkfs for example, which opens a
 * device several times before it begins: whoever looked in between, exclusively, would have it fail.
 */
const gatherMs = 500;
/** Milliseconds after which changes are told of that do not end. */
const longestMs = 2_000;
/** Messages of one round; more are read with the next, so that a flood does not keep us here. */
const mostMessages = 256;

/** Dependencies of watching for block devices (kernel uevents). */
export interface DeviceWakesDeps {
  readonly calls: WakeCalls;
  readonly timers: Timers;
  readonly clock: Clock;
}

/**
 * Tells of changes of block devices, by the kernel's uevents (NETLINK_KOBJECT_UEVENT): disks that come and go, media,
 * sizes, and holders such as device-mapper. They arrive in every network namespace that belongs to the node's user
 * namespace, the host's or not. Only a privileged process can send one that looks so; it could wake, no more.
 */
export class DeviceWakes {
  readonly #deps: DeviceWakesDeps;
  readonly #listeners = new Set<WakeupListener>();
  readonly #buffer = Buffer.alloc(bufferBytes);
  /** Those who were told that nothing is heard. */
  readonly #deafened = new Set<WakeupListener>();
  #unavailable: WatchUnavailable | undefined;
  #again: Cancel | undefined;
  #close: Cancel | undefined;
  #telling: Cancel | undefined;
  /** When the first of the changes came that were not told of yet, in milliseconds of the monotonic clock. */
  #firstAt = 0;

  constructor(deps: DeviceWakesDeps) {
    this.#deps = deps;
  }

  watch(listener: WakeupListener): Cancel {
    this.#listeners.add(listener);
    this.#listen();
    const cancel =
      this.#unavailable === undefined ? undefined : this.#deps.timers.after(0, () => this.#reportUnavailable(listener));
    return () => {
      cancel?.();
      this.#listeners.delete(listener);
      this.#deafened.delete(listener);
      if (this.#listeners.size > 0) return;
      for (const end of [this.#telling, this.#again, this.#close]) end?.();
      this.#telling = undefined;
      this.#again = undefined;
      this.#close = undefined;
      this.#unavailable = undefined;
    };
  }

  /** Begins to listen, or tries again later if only a limit of the node is in the way. */
  #listen(): void {
    if (this.#close !== undefined) return;
    try {
      this.#close = this.#open();
    } catch (error) {
      const code = errnoOf(error);
      if (code === undefined) throw error;
      this.#unavailable = watchErrorReason(code);
      if (this.#unavailable === "limit") this.#againLater();
      return;
    }
    this.#unavailable = undefined;
    if (this.#deafened.size === 0) return;
    for (const listener of this.#deafened) listener.unavailable(undefined);
    this.#deafened.clear();
    this.#tellSoon(); // what came meanwhile was not heard
  }

  #againLater(): void {
    this.#again ??= this.#deps.timers.after(limitMs, () => {
      this.#again = undefined;
      this.#listen();
    });
  }

  #reportUnavailable(listener: WakeupListener): void {
    if (this.#unavailable === undefined) return;
    this.#deafened.add(listener);
    listener.unavailable(this.#unavailable);
  }

  #open(): Cancel {
    const fd = this.#deps.calls.openUevents();
    const handle = koffi.node.poll(fd, { readable: true }, () => this.#read(fd));
    return () => {
      handle.close();
      closeSync(fd);
    };
  }

  #read(fd: number): void {
    try {
      for (let messages = 0; messages < mostMessages; messages++) {
        const length = this.#deps.calls.receive(fd, this.#buffer);
        if (isOfBlockDevice(this.#buffer.toString("latin1", 0, length))) this.#tellSoon();
      }
    } catch (error) {
      if (errnoOf(error) === "EAGAIN") return; // all of them were read
      if (errnoOf(error) !== "ENOBUFS") throw error;
      this.#tellSoon(); // the kernel has dropped some
    }
  }

  #tellSoon(): void {
    const { clock, timers } = this.#deps;
    if (this.#telling === undefined) this.#firstAt = clock.monotonic();
    else if (clock.monotonic() - this.#firstAt > longestMs) return;
    this.#telling?.();
    this.#telling = timers.after(gatherMs, () => {
      this.#telling = undefined;
      for (const listener of [...this.#listeners]) listener.woken();
    });
  }
}

/** A message is `action@devpath` and then `KEY=value`, each ended by a zero. */
function isOfBlockDevice(message: string): boolean {
  return message.includes("\0SUBSYSTEM=block\0");
}
