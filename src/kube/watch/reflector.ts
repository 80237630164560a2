import type { KubeObject } from "../../api/meta.ts";
import type { Resource } from "../../api/names.ts";
import type { Cancel, Random, System } from "../../ports.ts";
import { fullJitter } from "../backoff.ts";
import { createKubeClient, type KubeClient } from "../client/client.ts";
import { resourcePath } from "../client/resource-path.ts";
import type { Transport } from "../client/transport.ts";
import { createIntake } from "./intake.ts";
import { createObjectStore, type MutableStore, type ObjectStore } from "./object-store.ts";
import { compareResourceVersions } from "./resource-version.ts";
import { endOfList, openWatch, type WatchChange, type WatchEnd } from "./watch-stream.ts";
import { createWatchTrouble } from "./watch-trouble.ts";

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
  const { clock, timers, yielder, random } = deps.system;
  const log = deps.system.log.child({ resource: deps.resource.plural });
  const store: MutableStore<T> = createObjectStore<T>({ clock, log });
  const intake = createIntake<T>({ store, yielder, project: deps.project });
  const client: KubeClient = createKubeClient({ transport: deps.transport, fieldManager: "" });
  const trouble = createWatchTrouble({ clock, log });
  /** Who waits for the next complete list. */
  const listed = createWaiters();
  const silenceMs = deps.idleMs ?? idleMs;

  let running = false;
  /** Where the watch goes on; "" if the collection must be listed. */
  let resourceVersion = "";
  /** Monotonic milliseconds when the watch last showed anything. */
  let heardAt = 0;
  let failures = 0;
  let watchListRefused = false;
  let cancelCurrent: Cancel = () => {};
  let backingOff = false;

  /** Opens the stream; with `listing` it begins with all objects and a bookmark that says where they end. */
  function listen(listing: boolean, onEnd: (end: WatchEnd) => void): void {
    let initial: Map<string, T> | undefined = listing ? new Map() : undefined;
    let cancelled = false;
    const request = {
      method: "GET",
      path: resourcePath(deps.resource, { namespace: deps.namespace }),
      query: watchQuery(deps, resourceVersion, random),
      idleMs: silenceMs,
    } as const;
    const cancelStream = openWatch(deps.transport, yielder, request, {
      onOpen() {
        intake.connected();
        if (!listing) trouble.over();
      },
      onEnd,
      onEvent(event) {
        heard();
        if (initial === undefined) return follow(event, onEnd);
        if (event.type !== "BOOKMARK") return intake.initial(initial, event);
        if (!event.initialEventsEnd) return undefined;
        const objects = [...initial.values()];
        initial = undefined;
        return takeList(objects, event.resourceVersion, () => cancelled);
      },
    });
    cancelCurrent = () => {
      cancelled = true;
      cancelStream();
    };
  }

  function follow(event: WatchChange, onEnd: (end: WatchEnd) => void): undefined {
    if (compareResourceVersions(event.resourceVersion, resourceVersion) < 0) {
      cancelCurrent();
      const message = `version ${event.resourceVersion} after ${resourceVersion}: the API server has gone back`;
      onEnd({ kind: "expired", message });
      return;
    }
    resourceVersion = event.resourceVersion;
    intake.change(event);
  }

  function heard(): void {
    intake.connected();
    trouble.over();
    heardAt = clock.monotonic();
  }

  function open(): void {
    backingOff = false;
    if (!running) return;
    const openedAt = clock.monotonic();
    heardAt = openedAt;
    const listing = resourceVersion === "";
    const onEnd = (end: WatchEnd) => restart(end, listing, clock.monotonic() - openedAt);
    if (listing && watchListRefused) openPages(onEnd);
    else listen(listing, onEnd);
  }

  /** The way of servers without WatchList: pages, then a watch from there. */
  function openPages(onEnd: (end: WatchEnd) => void): void {
    let cancelled = false;
    cancelCurrent = () => {
      cancelled = true;
    };
    client
      .list(deps.resource, deps)
      .then((list) => {
        if (cancelled) return;
        heard();
        const rest = takeList(intake.objectsOf(list.items), list.resourceVersion, () => cancelled);
        if (rest === undefined) listen(false, onEnd);
        return rest?.then(() => (cancelled ? undefined : listen(false, onEnd)));
      })
      .catch((error: unknown) => {
        if (!cancelled) onEnd(endOfList(error));
      });
  }

  /** @returns undefined if that was done at once */
  function takeList(objects: readonly T[], at: string, cancelled: () => boolean): Promise<void> | undefined {
    const complete = () => {
      if (cancelled()) return;
      resourceVersion = at;
      failures = 0;
      listed.resolve();
    };
    const rest = intake.list(objects, at, cancelled);
    if (rest === undefined) complete();
    return rest?.then(complete);
  }

  function restart(end: WatchEnd, wasListing: boolean, lastedMs: number): void {
    if (end.kind === "refused" && wasListing && !watchListRefused) {
      log.info("the server refuses WatchList, so the collection is listed in pages", { reason: end.message });
      watchListRefused = true;
      open();
      return;
    }
    deps.onRestart?.(end.kind);
    const silentMs = clock.monotonic() - heardAt;
    const next = decideRestart(end, { lastedMs, silentMs, failures, idleMs: silenceMs });
    failures = next.failures;
    if (next.list) resourceVersion = "";
    if (next.lost) {
      trouble.failed(end);
      store.setConnected(false);
    }
    backingOff = failures > 0;
    if (!backingOff) open();
    else cancelCurrent = timers.after(Math.max(end.retryAfterMs ?? 0, fullJitter(failures, backoff, random)), open);
  }

  return {
    store,
    start() {
      if (running) return;
      running = true;
      open();
    },
    stop() {
      running = false;
      cancelCurrent();
      listed.reject(new Error(`the watch of ${deps.resource.plural} was stopped`));
    },
    synced() {
      return store.state().synced ? Promise.resolve() : listed.wait();
    },
    notSynced() {
      if (store.state().synced) return undefined;
      return `${deps.resource.plural}: ${trouble.cause ?? "the list is on its way"}`;
    },
    resync() {
      if (!running) return Promise.reject(new Error(`the watch of ${deps.resource.plural} is not running`));
      cancelCurrent();
      resourceVersion = "";
      const next = listed.wait();
      open();
      return next;
    },
    nudge() {
      if (!backingOff) return;
      cancelCurrent();
      open();
    },
    upsertIfNewer(raw) {
      const object = deps.project(raw);
      if (object !== undefined) store.upsertIfNewer(object);
    },
  };
}

/** Those who wait for the next time that something happens. */
interface Waiters {
  wait(): Promise<void>;
  resolve(): void;
  reject(error: Error): void;
}

interface Waiting {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** Promises for those who wait for the next time that something happens. Nobody waits: nothing is rejected. */
function createWaiters(): Waiters {
  let waiting = next();
  let any = false;

  /** Nobody waits for what nobody asked for: it would be a rejection that nobody handles. */
  function settle(tell: (all: Waiting) => void): void {
    if (!any) return;
    const all = waiting;
    waiting = next();
    any = false;
    tell(all);
  }

  return {
    wait() {
      any = true;
      return waiting.promise;
    },
    resolve: () => settle((all) => all.resolve()),
    reject: (error) => settle((all) => all.reject(error)),
  };
}

/** Promise.withResolvers came with Node 22, and people's machines run this, too. */
function next(): Waiting {
  let settlers: Omit<Waiting, "promise"> | undefined;
  const promise = new Promise<void>((resolve, reject) => {
    settlers = { resolve, reject };
  });
  if (settlers === undefined) throw new Error("a promise has called nobody");
  return { promise, ...settlers };
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
    ...(of.labelSelector !== undefined && { labelSelector: of.labelSelector }),
    ...(of.fieldSelector !== undefined && { fieldSelector: of.fieldSelector }),
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
