import { unreachable } from "../errors.ts";
import type { Deafness, WakeListener, Wakes } from "../host/wakes.ts";
import type { Cancel, Logger } from "../ports.ts";
import type { Slot } from "./failures.ts";
import type { WakeSource } from "./wakes-of.ts";

/**
 * Limit of event sources that are watched at once, so that a thousand waiting volumes do not exhaust the node's inotify
 * watches.
 */
const mostSources = 512;

/** Dependencies of watching for the end of waits. */
export interface WakeListeningDeps {
  readonly wakes: Wakes;
  readonly log: Logger;
  /** Called for each event, once for each waiting slot. */
  woken(slot: Slot, by: WakeSource["kind"]): void;
  /** Called when the reasons have changed why sources cannot be watched, with the number of sources for each. */
  unheard(sources: ReadonlyMap<Deafness, number>): void;
}

interface Listened {
  readonly cancel: Cancel;
  waiters: ReadonlySet<Slot>;
  deaf: Deafness | undefined;
}

/** The watched event sources: one for all slots that wait for the same event, for as long as one of them waits. */
export class WakeListening {
  readonly #deps: WakeListeningDeps;
  readonly #listened = new Map<string, Listened>();
  readonly #logged = new Set<Deafness>();
  /** Sources that there is no room for. */
  #beyond = 0;

  constructor(deps: WakeListeningDeps) {
    this.#deps = deps;
  }

  /** Number of watched sources. */
  get size(): number {
    return this.#listened.size;
  }

  /** Watches exactly these sources from now on, up to the limit. */
  follow(sources: Iterable<readonly [Slot, readonly WakeSource[]]>): void {
    const wanted = new Map<string, { readonly source: WakeSource; readonly waiters: Set<Slot> }>();
    const beyond = new Set<string>();
    for (const [slot, ofSlot] of sources) {
      for (const source of ofSlot) {
        const key = JSON.stringify(source);
        const known = wanted.get(key);
        if (known !== undefined) known.waiters.add(slot);
        else if (wanted.size < mostSources) wanted.set(key, { source, waiters: new Set([slot]) });
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
    this.#tellUnheard();
    if (beyond.size > 0) this.#warn("limit");
  }

  #listen(key: string, source: WakeSource, waiters: ReadonlySet<Slot>): void {
    const listener: WakeListener = {
      woken: () => {
        for (const slot of this.#listened.get(key)?.waiters ?? []) this.#deps.woken(slot, source.kind);
      },
      deaf: (why) => this.#deaf(key, why),
    };
    this.#listened.set(key, { cancel: this.#open(source, listener), waiters, deaf: undefined });
  }

  #open(source: WakeSource, listener: WakeListener): Cancel {
    const { wakes } = this.#deps;
    switch (source.kind) {
      case "path":
        return wakes.path(source.place, listener);
      case "process":
        return wakes.process(source.process, listener);
      case "devices":
        return wakes.devices(listener);
      case "room":
        return wakes.room(listener);
      default:
        return unreachable(source);
    }
  }

  #drop(key: string, { cancel, deaf }: Listened): void {
    cancel();
    this.#listened.delete(key);
    if (deaf !== undefined) this.#tellUnheard();
  }

  #deaf(key: string, why: Deafness | undefined): void {
    const listened = this.#listened.get(key);
    if (listened === undefined || listened.deaf === why) return;
    listened.deaf = why;
    this.#tellUnheard();
    if (why !== undefined) this.#warn(why);
  }

  #warn(why: Deafness): void {
    if (this.#logged.has(why)) return;
    this.#logged.add(why);
    this.#deps.log.warn("cannot watch for the change this volume is waiting for; falling back to periodic retries", {
      why,
    });
  }

  #tellUnheard(): void {
    const unheard = new Map<Deafness, number>(this.#beyond > 0 ? [["limit", this.#beyond]] : []);
    for (const { deaf } of this.#listened.values()) {
      if (deaf !== undefined) unheard.set(deaf, (unheard.get(deaf) ?? 0) + 1);
    }
    this.#deps.unheard(unheard);
  }
}
