import type { Cancel } from "../../ports.ts";

/**
 * Events that the kernel raises by itself, so that nothing has to be polled. Nothing depends on them: an event may come
 * late, twice, without a change, or not at all; waiters retry after a delay in any case.
 */
export interface Wakeups {
  /**
   * Watches for a change of a path's lookup: a name on the way appeared, vanished, was renamed or replaced, or a mount
   * came or went there. Directories are watched as they appear. File systems that could hang are not read, and cannot
   * be watched.
   */
  path(place: WatchedPath, listener: WakeupListener): Cancel;
  /** Tells once, soon after the process has ended; at once if there is none. What it holds is free then. */
  process(process: WatchedProcess, listener: WakeupListener): Cancel;
  /** Tells of each change of the node's block devices. */
  devices(listener: WakeupListener): Cancel;
  /** Tells when a child of the agent has ended, so that there is room for another. */
  room(listener: WakeupListener): Cancel;
}

/** Callbacks for an event that a volume waits for. */
export interface WakeupListener {
  /** Called soon after the event, and once for several that come together. Never from within the call that began it. */
  woken(): void;
  /** Called with why the source cannot be watched, with undefined when it can again. Never called: it is watched. */
  unavailable(why: WatchUnavailable | undefined): void;
}

/**
 * Why a source is not heard:
 * - limit: the node's limits for inotify or open files are reached
 * - mayHang: the path leads into a file system that may wait for somebody, which is not asked
 * - unsupported: the kernel, or what it lets the agent do, has no such event
 */
export type WatchUnavailable = "limit" | "mayHang" | "unsupported";

/** `path` looked up as if `root` were the root directory. */
export interface WatchedPath {
  readonly root: string;
  readonly path: string;
  /** Refuse: a lookup ends at a symbolic link, as it does for targets. */
  readonly links: "follow" | "refuse";
  /** Tell also when somebody who could write to the file that is there has closed it: a device that was formatted. */
  readonly written?: boolean;
}

/** A process whose end is waited for (pidfd_open(2)). */
export interface WatchedProcess {
  readonly pid: number;
  /** In clock ticks since boot: tells it from a later process with the same pid. Undefined: whoever has the pid now. */
  readonly startTime?: number;
}

/** No event is ever told of: for where there are none, and every wait ends by trying again. */
export const noWakeups: Wakeups = {
  path: () => () => {},
  process: () => () => {},
  devices: () => () => {},
  room: () => () => {},
};
