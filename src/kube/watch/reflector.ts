import type { KubeObject } from "../../api/meta.ts";
import type { Resource } from "../../api/names.ts";
import type { Cancel, Logger, Random, System } from "../../ports.ts";
import { fullJitter } from "../backoff.ts";
import { createKubeClient, type KubeClient, selectorsOf } from "../client/client.ts";
import { resourcePath } from "../client/resource-path.ts";
import type { Transport } from "../client/transport.ts";
import { Waiters } from "../waiters.ts";
import { createObjectStore, type MutableStore, type ObjectStore } from "./object-store.ts";
import { compareResourceVersions } from "./resource-version.ts";
import { createStoreUpdater, type StoreUpdater } from "./store-updater.ts";
import { createWatchFailureLog, type WatchFailureLog } from "./watch-failure-log.ts";
import { endOfFailure, openWatch, type WatchChange, type WatchEnd } from "./watch-stream.ts";

/** Above the bookmark interval of about one minute. */
const idleMs = 180_000;
/** As long as the longest wait: what lasted longer was no part of the failures before it. */
const longestWaitMs = 10_000;
/**
 * A stream that ends earlier than this does not count as a success, or a server that closes at once would be flooded.
 */
const shortestStreamMs = 1_000;

/** Dependencies of a reflector: which collection it lists and watches, and what is kept of each object. */
export interface ReflectorDeps<T extends KubeObject> extends Selection {
  readonly system: System;
  readonly transport: Transport;
  readonly resource: Resource;
  readonly namespace?: string;
  /**
   * What is kept of an object, before it enters the store. undefined leaves it out, also one that was kept. Must not
   * throw.
   */
  readonly project: (raw: unknown) => T | undefined;
  /** Milliseconds without a line after which the watch is taken for dead: three minutes if not given. */
  readonly idleMs?: number;
  /** Told each time a watch had to be opened again, and why. */
  readonly onRestart?: (why: WatchEnd["kind"]) => void;
}

/**
 * Keeps a store equal to a collection of the API server, across everything that can happen to a watch.
 *
 * ```
 *             ┌───────────────── resourceVersion expired (410) ────────────────┐
 *             ▼                                                                │
 *  start ► listing ── complete ──► following ── closed by the server ──► following again
 *             │                        │                                       ▲
 *             └─ failed: back off ─┐   └─ failed: back off, last resourceVersion ┘
 *                    ▲─────────────┘
 * ```
 * listing is one stream that begins with all objects (WatchList), or pages and then a watch if the server refuses it.
 * It asks for no resourceVersion, which makes it a consistent read: never older than the moment it was asked for.
 * A large list is taken in over several turns of the event loop. Until that is done the store counts as not connected,
 * so that nobody decides by what is half the one and half the other; what the watch shows meanwhile comes after it.
 */
export interface Reflector<T extends KubeObject> {
  readonly store: ObjectStore<T>;
  start(): void;
  /** Ends the watch. The store keeps what it has. */
  stop(): void;
  /** Why the store does not hold a complete list yet, with the resource; undefined if it does. */
  notSynced(): string | undefined;
  /** Resolves once the store holds a complete list; rejects if the reflector is stopped before. */
  synced(): Promise<void>;
  /** Lists again, and resolves when the store is not older than this call. Rejects if the reflector is stopped. */
  resync(): Promise<void>;
  /** The server answers again, as another watch has noticed: do not wait for the next attempt. */
  nudge(): void;
  /** Takes in the server's answer to a write of our own, so that the next decision sees it. */
  upsertIfNewer(raw: unknown): void;
}

/**
 * Retries of a failed watch: from 0.8 s as client-go, but only up to 10 s, not 30. After an outage half a minute
 * without news is long to whoever looks; with full jitter 5,000 agents still come back over 10 s.
 */
const backoff = { baseMs: 800, maxMs: longestWaitMs };

/**
 * Lists and watches a collection into a store, as client-go's reflector: from the last resourceVersion where the server
 * still has it, with WatchList where it is supported, with backoff after failures.
 */
export function createReflector<T extends KubeObject>(deps: ReflectorDeps<T>): Reflector<T> {
  return new CollectionReflector(deps);
}

class CollectionReflector<T extends KubeObject> implements Reflector<T> {
  readonly store: MutableStore<T>;
  readonly #deps: ReflectorDeps<T>;
  readonly #log: Logger;
  readonly #updater: StoreUpdater<T>;
  readonly #client: KubeClient;
  readonly #trouble: WatchFailureLog;
  /** Who waits for the next complete list. */
  readonly #listed = new Waiters();
  readonly #idleMs: number;
  #running = false;
  /** Where the watch goes on; "" if the collection must be listed. */
  #resourceVersion = "";
  /** Monotonic milliseconds when the watch last showed anything. */
  #heardAt = 0;
  #failures = 0;
  #watchListRefused = false;
  #cancelCurrent: Cancel = () => {};
  #backingOff = false;

  constructor(deps: ReflectorDeps<T>) {
    const { clock, yielder } = deps.system;
    const log = deps.system.log.child({ resource: deps.resource.plural });
    this.#deps = deps;
    this.#log = log;
    this.store = createObjectStore<T>({ clock, log });
    this.#updater = createStoreUpdater<T>({ store: this.store, yielder, project: deps.project });
    this.#client = createKubeClient({ transport: deps.transport, fieldManager: "" });
    this.#trouble = createWatchFailureLog({ clock, log });
    this.#idleMs = deps.idleMs ?? idleMs;
  }

  start(): void {
    if (this.#running) return;
    this.#running = true;
    this.#open();
  }

  stop(): void {
    this.#running = false;
    this.#cancelCurrent();
    this.#listed.reject(new Error(`the watch of ${this.#deps.resource.plural} was stopped`));
  }

  synced(): Promise<void> {
    return this.store.state().synced ? Promise.resolve() : this.#listed.wait();
  }

  notSynced(): string | undefined {
    if (this.store.state().synced) return undefined;
    return `${this.#deps.resource.plural}: ${this.#trouble.cause ?? "the list is on its way"}`;
  }

  resync(): Promise<void> {
    if (!this.#running) return Promise.reject(new Error(`the watch of ${this.#deps.resource.plural} is not running`));
    this.#cancelCurrent();
    this.#resourceVersion = "";
    const next = this.#listed.wait();
    this.#open();
    return next;
  }

  nudge(): void {
    if (!this.#backingOff) return;
    this.#cancelCurrent();
    this.#open();
  }

  upsertIfNewer(raw: unknown): void {
    const object = this.#deps.project(raw);
    if (object !== undefined) this.store.upsertIfNewer(object);
  }

  #open(): void {
    this.#backingOff = false;
    if (!this.#running) return;
    const openedAt = this.#now();
    this.#heardAt = openedAt;
    const listing = this.#resourceVersion === "";
    const onEnd = (end: WatchEnd) => this.#restart(end, listing, this.#now() - openedAt);
    if (listing && this.#watchListRefused) this.#openPages(onEnd);
    else this.#listen(listing, onEnd);
  }

  /** Opens the stream; with `listing` it begins with all objects and a bookmark that says where they end. */
  #listen(listing: boolean, onEnd: (end: WatchEnd) => void): void {
    const { resource, namespace, transport, system } = this.#deps;
    let initial: Map<string, T> | undefined = listing ? new Map() : undefined;
    let cancelled = false;
    const request = {
      method: "GET",
      path: resourcePath(resource, { namespace }),
      query: watchQuery(this.#deps, this.#resourceVersion, system.random),
      idleMs: this.#idleMs,
    } as const;
    const cancelStream = openWatch(transport, system.yielder, request, {
      onOpen: () => {
        this.#updater.connected();
        if (!listing) this.#trouble.over();
      },
      onEnd,
      onEvent: (event) => {
        this.#heard();
        if (initial === undefined) return this.#follow(event, onEnd);
        if (event.type !== "BOOKMARK") return this.#updater.initial(initial, event);
        if (!event.initialEventsEnd) return undefined;
        const objects = [...initial.values()];
        initial = undefined;
        return this.#takeList(objects, event.resourceVersion, () => cancelled);
      },
    });
    this.#cancelCurrent = () => {
      cancelled = true;
      cancelStream();
    };
  }

  #follow(event: WatchChange, onEnd: (end: WatchEnd) => void): undefined {
    const { resourceVersion } = event;
    if (compareResourceVersions(resourceVersion, this.#resourceVersion) < 0) {
      this.#cancelCurrent();
      const message = `version ${resourceVersion} after ${this.#resourceVersion}: the API server has gone back`;
      onEnd({ kind: "expired", message });
      return;
    }
    this.#resourceVersion = resourceVersion;
    this.#updater.change(event);
  }

  #heard(): void {
    this.#updater.connected();
    this.#trouble.over();
    this.#heardAt = this.#now();
  }

  /** The way of servers without WatchList: pages, then a watch from there. */
  #openPages(onEnd: (end: WatchEnd) => void): void {
    let cancelled = false;
    this.#cancelCurrent = () => {
      cancelled = true;
    };
    this.#client
      .list(this.#deps.resource, this.#deps)
      .then((list) => {
        if (cancelled) return;
        this.#heard();
        const rest = this.#takeList(this.#updater.objectsOf(list.items), list.resourceVersion, () => cancelled);
        if (rest === undefined) this.#listen(false, onEnd);
        return rest?.then(() => (cancelled ? undefined : this.#listen(false, onEnd)));
      })
      .catch((error: unknown) => {
        if (!cancelled) onEnd(endOfFailure(error));
      });
  }

  /** @returns undefined if that was done at once */
  #takeList(objects: readonly T[], at: string, cancelled: () => boolean): Promise<void> | undefined {
    const complete = () => {
      if (cancelled()) return;
      this.#resourceVersion = at;
      this.#failures = 0;
      this.#listed.resolve();
    };
    const rest = this.#updater.list(objects, at, cancelled);
    if (rest === undefined) complete();
    return rest?.then(complete);
  }

  #restart(end: WatchEnd, wasListing: boolean, lastedMs: number): void {
    if (end.kind === "refused" && wasListing && !this.#watchListRefused) {
      const reason = end.message;
      this.#log.info("the server refuses WatchList, so the collection is listed in pages", { reason });
      this.#watchListRefused = true;
      this.#open();
      return;
    }
    this.#deps.onRestart?.(end.kind);
    const silentMs = this.#now() - this.#heardAt;
    const next = decideRestart(end, { lastedMs, silentMs, failures: this.#failures, idleMs: this.#idleMs });
    this.#failures = next.failures;
    if (next.list) this.#resourceVersion = "";
    if (next.lost) {
      this.#trouble.failed(end);
      this.store.setConnected(false);
    }
    this.#backingOff = next.failures > 0;
    if (!this.#backingOff) {
      this.#open();
      return;
    }
    const { timers, random } = this.#deps.system;
    const waitMs = Math.max(end.retryAfterMs ?? 0, fullJitter(next.failures, backoff, random));
    this.#cancelCurrent = timers.after(waitMs, () => this.#open());
  }

  #now(): number {
    return this.#deps.system.clock.monotonic();
  }
}

/** Which objects of a collection are watched. */
interface Selection {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** The parameters of a watch that goes on after `resourceVersion`, or begins with all objects if that is "". */
function watchQuery(of: Selection, resourceVersion: string, random: Random): { [name: string]: string } {
  return {
    watch: "true",
    allowWatchBookmarks: "true",
    // Spread, so that the watches of many agents are not all opened again at the same moment.
    timeoutSeconds: String(300 + Math.floor(random.next() * 300)),
    ...selectorsOf(of),
    ...(resourceVersion === ""
      ? { sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan" }
      : { resourceVersion }),
  };
}

/** How a watch that is over has gone. */
interface WatchCourse {
  /** Milliseconds since it was opened. */
  readonly lastedMs: number;
  /** Milliseconds since it showed anything, or since it was opened. */
  readonly silentMs: number;
  /** Failures in a row before this one. */
  readonly failures: number;
  /** Silence after which the watch is given up: {@link idleMs} if not given. */
  readonly idleMs?: number;
}

/** How a watch is begun anew. */
interface Restart {
  /** Whether the collection must be listed: the version that was reached is no use any more. */
  readonly list: boolean;
  /** Failures in a row, which say how long to wait; 0 goes on at once. */
  readonly failures: number;
  /** Whether changes no longer arrive. */
  readonly lost: boolean;
}

/** How to go on when a watch is over. Pure. */
function decideRestart({ kind }: WatchEnd, course: WatchCourse): Restart {
  const { lastedMs, silentMs, failures } = course;
  // A watch that is refused will not be accepted from the same resourceVersion next time either. And one that was not
  // even sent a bookmark may be that of a server that has gone back to an older state (a restored etcd): it sends
  // nothing until it has reached the version that was asked for.
  const list =
    kind === "expired" || kind === "refused" || (kind === "failed" && silentMs > (course.idleMs ?? idleMs) - 1_000);
  if (kind === "closed" && lastedMs >= shortestStreamMs) return { list, failures: 0, lost: false };
  const inARow = lastedMs >= longestWaitMs ? 1 : failures + 1;
  return { list, failures: inARow, lost: kind !== "closed" || inARow > 1 };
}
