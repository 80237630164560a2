import { messageOf } from "../../errors.ts";
import type { Reflector } from "../../kube/watch/reflector.ts";
import type { Logger } from "../../ports.ts";

/**
 * Watches that are of use together only, and that nobody else waits for: a cluster where they cannot be read goes on
 * without.
 */
export interface WatchGroup {
  /** Once: later calls do nothing. */
  start(): void;
  /**
   * Reads all again, as what a former leader went by may not be seen yet; `onComplete` when that is done, and after
   * each gap.
   * @param unbroken nobody else has led since this process did: what it had read then is read
   */
  lead(onComplete: () => void, unbroken?: boolean): void;
  /** Not ours to decide any more. */
  follow(): void;
  /** Whether all was read since this process leads, and changes arrive. Without that nothing is decided (law L8). */
  complete(): boolean;
  stop(): void;
}

/** @param what for log lines, such as "storage objects" */
export function createWatchGroup(log: Logger, what: string, all: readonly Reflector<never>[]): WatchGroup {
  let started = false;
  /** Whether everything was read since this process leads. */
  let fresh = false;
  /** The same of the last term of this process, if that is over. */
  let wasFresh = false;
  let term: { readonly onComplete: () => void } | undefined;

  async function readAgain(mine: NonNullable<typeof term>): Promise<void> {
    try {
      await Promise.all(all.map((one) => one.resync()));
    } catch (error) {
      log.debug(`the ${what} were not read to the end`, { error: messageOf(error) });
      return;
    }
    if (term !== mine) return;
    fresh = true;
    mine.onComplete();
  }

  for (const { store } of all) {
    store.subscribe({
      onState({ connected }) {
        if (connected) for (const other of all) other.nudge();
        // What was put off while they could not be seen.
        if (complete()) term?.onComplete();
      },
    });
  }

  function complete(): boolean {
    const states = all.map(({ store }) => store.state());
    return fresh && states.every(({ synced, connected }) => synced && connected);
  }

  return {
    start() {
      if (started) return;
      started = true;
      for (const one of all) one.start();
      if (term !== undefined) void readAgain(term);
    },
    lead(onComplete, unbroken = false) {
      fresh = unbroken && wasFresh;
      term = { onComplete };
      if (!started) return;
      if (!fresh) void readAgain(term);
      else if (complete()) onComplete();
    },
    follow() {
      wasFresh = fresh;
      fresh = false;
      term = undefined;
    },
    complete,
    stop() {
      term = undefined;
      if (started) for (const one of all) one.stop();
    },
  };
}
