import type { Cancel } from "../ports.ts";

/**
 * What the kernel tells of by itself, so that nobody has to ask again and again. Nothing rests on it: an event may come
 * late, twice, for nothing, or not at all; whoever waits tries again after a while in any case.
 */
export interface Wakes {
  /**
   * Tells when a lookup of a path may end differently from before: something appeared, vanished, was renamed or replaced on
   * the way, or a mount there came or went. Directories are followed as they appear. File systems that could hang are not
   * asked, and cannot be heard.
   */
  path(place: WatchedPath, listener: WakeListener): Cancel;
  /** Tells once, soon after the process has ended; at once if there is none. What it holds is free then. */
  process(process: WatchedProcess, listener: WakeListener): Cancel;
  /** Tells of each change of the node's block devices. */
  devices(listener: WakeListener): Cancel;
  /** Tells when a child of the agent has ended, so that there is room for another. */
  room(listener: WakeListener): Cancel;
}

/** Callbacks for an event that a volume waits for. */
export interface WakeListener {
  /** Called soon after the event, and once for several that come together. Never from within the call that began it. */
  woken(): void;
  /** Told why nothing can be heard, and with undefined, when that is over. Never told anything: it is heard. */
  deaf(why: Deafness | undefined): void;
}

/**
 * Why a source is not heard:
 * - limit: the node's limits for inotify or open files are reached
 * - mayHang: the path leads into a file system that may wait for somebody, which is not asked
 * - unsupported: the kernel, or what it lets the agent do, has no such event
 */
export type Deafness = "limit" | "mayHang" | "unsupported";

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
export const noWakes: Wakes = {
  path: () => () => {},
  process: () => () => {},
  devices: () => () => {},
  room: () => () => {},
};
