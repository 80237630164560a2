import { unreachable } from "../../errors.ts";
import type { WakeupListener, Wakeups, WatchUnavailable } from "../../host/ports/wakeups.ts";
import type { Cancel, Logger } from "../../ports.ts";
import type { RetryTrigger } from "./triggers-for.ts";

/** Event sources that are watched at once: a thousand waiting volumes must not exhaust the node's inotify watches. */
const mostSources = 512;

/** Dependencies of watching for the end of waits. */
export interface TriggerWatcherDeps<Waiter> {
  readonly wakeups: Wakeups;
  readonly log: Logger;
  /** Called for each event, once for each waiter. */
  woken(waiter: Waiter, by: RetryTrigger["kind"]): void;
  /** Called when the reasons have changed why sources cannot be watched, with the number of sources for each. */
  unwatched(sources: ReadonlyMap<WatchUnavailable, number>): void;
}

interface Listened<Waiter> {
  readonly cancel: Cancel;
  waiters: ReadonlySet<Waiter>;
  unavailable: WatchUnavailable | undefined;
}

/** The watched event sources: one for all that wait for the same event, for as long as one of them waits. */
export class TriggerWatcher<Waiter> {
  readonly #deps: TriggerWatcherDeps<Waiter>;
  readonly #listened = new Map<string, Listened<Waiter>>();
  readonly #logged = new Set<WatchUnavailable>();
  /** Sources that there is no room for. */
  #beyond = 0;

  constructor(deps: TriggerWatcherDeps<Waiter>) {
    this.#deps = deps;
  }

  /** Watches exactly these sources from now on, up to the limit. */
  follow(sources: Iterable<readonly [Waiter, readonly RetryTrigger[]]>): void {
    const wanted = new Map<string, { readonly source: RetryTrigger; readonly waiters: Set<Waiter> }>();
    const beyond = new Set<string>();
    for (const [waiter, all] of sources) {
      for (const source of all) {
        const key = JSON.stringify(source);
        const known = wanted.get(key);
        if (known !== undefined) known.waiters.add(waiter);
        else if (wanted.size < mostSources) wanted.set(key, { source, waiters: new Set([waiter]) });
        else beyond.add(key);
      }
    }
    for (const [key, listened] of this.#listened) if (!wanted.has(key)) this.#drop(key, listened);
    for (const [key, { source, waiters }] of wanted) {
      const present = this.#listened.get(key);
      if (present !== undefined) present.waiters = waiters;
      else this.#listen(key, source, waiters);
    }
    if (beyond.size === this.#beyond) return;
    this.#beyond = beyond.size;
    this.#reportUnwatched();
    if (beyond.size > 0) this.#warn("limit");
  }

  #listen(key: string, source: RetryTrigger, waiters: ReadonlySet<Waiter>): void {
    const listener: WakeupListener = {
      woken: () => {
        for (const waiter of this.#listened.get(key)?.waiters ?? []) this.#deps.woken(waiter, source.kind);
      },
      unavailable: (why) => this.#setUnavailable(key, why),
    };
    this.#listened.set(key, { cancel: this.#open(source, listener), waiters, unavailable: undefined });
  }

  #open(source: RetryTrigger, listener: WakeupListener): Cancel {
    const { wakeups } = this.#deps;
    switch (source.kind) {
      case "path":
        return wakeups.path(source.place, listener);
      case "process":
        return wakeups.process(source.process, listener);
      case "devices":
        return wakeups.devices(listener);
      case "room":
        return wakeups.room(listener);
      default:
        return unreachable(source);
    }
  }

  #drop(key: string, { cancel, unavailable }: Listened<Waiter>): void {
    cancel();
    this.#listened.delete(key);
    if (unavailable !== undefined) this.#reportUnwatched();
  }

  #setUnavailable(key: string, why: WatchUnavailable | undefined): void {
    const listened = this.#listened.get(key);
    if (listened === undefined || listened.unavailable === why) return;
    listened.unavailable = why;
    this.#reportUnwatched();
    if (why !== undefined) this.#warn(why);
  }

  #warn(why: WatchUnavailable): void {
    if (this.#logged.has(why)) return;
    this.#logged.add(why);
    this.#deps.log.warn("cannot watch for the change this volume is waiting for; falling back to periodic retries", {
      why,
    });
  }

  #reportUnwatched(): void {
    const unwatched = new Map<WatchUnavailable, number>(this.#beyond > 0 ? [["limit", this.#beyond]] : []);
    for (const { unavailable } of this.#listened.values()) {
      if (unavailable !== undefined) unwatched.set(unavailable, (unwatched.get(unavailable) ?? 0) + 1);
    }
    this.#deps.unwatched(unwatched);
  }
}
