import type { ApiResponse } from "../../../src/kube/client/transport.ts";
import type { Cancel } from "../../../src/ports.ts";
import type { Scheduler } from "../scheduler.ts";
import type { Change } from "./collection.ts";
import type { StoredObject } from "./json.ts";
import type { Kind } from "./kinds.ts";
import { statusObject } from "./refusal.ts";
import type { Matches } from "./selectors.ts";

/** Somebody who watches a collection. */
export interface Watcher {
  readonly matches: Matches;
  /** The watch is accepted. */
  opened(): void;
  /** Lines of the watch, in order. */
  lines(lines: readonly object[]): void;
  end(how: { readonly response?: ApiResponse; readonly error?: Error }): void;
}

export interface WatchCacheDeps {
  readonly scheduler: Scheduler;
  readonly kind: Kind;
  /** The newest resourceVersion of the server. */
  version(): number;
}

type Query = { readonly [name: string]: string };

/** kube-apiserver sends a bookmark about once a minute. */
const bookmarkMs = 60_000;

/** The changes of one collection, for watches: from a version on, or from a list on (WatchList). */
export class WatchCache {
  readonly #deps: WatchCacheDeps;
  readonly #changes: (Change & { readonly at: number })[] = [];
  readonly #watchers = new Set<{ readonly watcher: Watcher; readonly lagMs: number; stop: Cancel }>();
  #oldest = 0;

  constructor(deps: WatchCacheDeps) {
    this.#deps = deps;
  }

  changed(change: Change): void {
    this.#changes.push({ ...change, at: this.#deps.scheduler.now });
    for (const { watcher, lagMs } of this.#watchers) {
      const line = lineFor(change, watcher.matches);
      if (line === undefined) continue;
      if (lagMs === 0) watcher.lines([line]);
      else this.#deps.scheduler.after(lagMs, () => watcher.lines([line]));
    }
  }

  /** The objects as they were at a version, by their keys; undefined if that is forgotten. */
  stateAt(version: number): ReadonlyMap<string, StoredObject> | undefined {
    if (version < this.#oldest) return undefined;
    const objects = new Map<string, StoredObject>();
    for (const change of this.#changes) {
      if (change.version > version) break;
      const { namespace, name } = change.object.metadata;
      const key = namespace === undefined ? name : `${namespace}/${name}`;
      if (change.type === "DELETED") objects.delete(key);
      else objects.set(key, change.object);
    }
    return objects;
  }

  compact(version: number): void {
    this.#oldest = version;
    this.breakAll({ response: expired(version) });
  }

  breakAll(how: Parameters<Watcher["end"]>[0]): void {
    for (const entry of [...this.#watchers]) {
      this.#remove(entry);
      entry.watcher.end(how);
    }
  }

  /** @param lagMs the watch is served by a replica that is behind by this much */
  open(watcher: Watcher, query: Query, lagMs: number): Cancel {
    const from = Number(query["resourceVersion"] ?? 0);
    if (query["sendInitialEvents"] !== "true" && from < this.#oldest) {
      watcher.opened();
      watcher.lines([{ type: "ERROR", object: expired(from).body }]);
      watcher.end({});
      return () => {};
    }
    watcher.opened();
    if (query["sendInitialEvents"] === "true") {
      watcher.lines(this.#initial(watcher.matches, lagMs));
      this.#catchUp(watcher, lagMs);
    } else
      watcher.lines(
        this.#changes.filter((change) => change.version > from).flatMap((c) => lineFor(c, watcher.matches) ?? []),
      );
    return this.#follow(watcher, Number(query["timeoutSeconds"] ?? 1800) * 1000, lagMs);
  }

  #follow(watcher: Watcher, timeoutMs: number, lagMs: number): Cancel {
    const { scheduler } = this.#deps;
    const entry = { watcher, lagMs, stop: () => {} };
    const close = scheduler.after(timeoutMs, () => {
      this.#remove(entry);
      watcher.end({});
    });
    let cancelBookmark: Cancel = () => {};
    const bookmarkSoon = () => {
      cancelBookmark = scheduler.after(bookmarkMs, () => {
        watcher.lines([this.#bookmark(this.#deps.version(), false)]);
        bookmarkSoon();
      });
    };
    if (lagMs === 0) bookmarkSoon();
    entry.stop = () => {
      close();
      cancelBookmark();
    };
    this.#watchers.add(entry);
    return () => this.#remove(entry);
  }

  #remove(entry: { readonly watcher: Watcher; readonly lagMs: number; stop: Cancel }): void {
    entry.stop();
    this.#watchers.delete(entry);
  }

  #initial(matches: Matches, lagMs: number): object[] {
    const until = this.#deps.scheduler.now - lagMs;
    const objects = new Map<string, StoredObject>();
    let version = this.#deps.version();
    for (const change of this.#changes) {
      if (lagMs > 0 && change.at > until) {
        version = change.version - 1;
        break;
      }
      const key = `${change.object.metadata.namespace ?? ""}/${change.object.metadata.name}`;
      if (change.type === "DELETED") objects.delete(key);
      else objects.set(key, change.object);
    }
    const added = [...objects.values()].filter(matches).map((object) => ({ type: "ADDED", object }));
    return [...added, this.#bookmark(version, true)];
  }

  /** What a replica that is behind has not seen yet arrives when it does there. */
  #catchUp(watcher: Watcher, lagMs: number): void {
    const { scheduler } = this.#deps;
    for (const change of this.#changes) {
      const line = lineFor(change, watcher.matches);
      if (lagMs === 0 || change.at <= scheduler.now - lagMs || line === undefined) continue;
      scheduler.after(change.at + lagMs - scheduler.now, () => watcher.lines([line]));
    }
  }

  #bookmark(version: number, end: boolean): object {
    const { resource } = this.#deps.kind;
    const annotations = end ? { annotations: { "k8s.io/initial-events-end": "true" } } : {};
    const metadata = { resourceVersion: String(version), creationTimestamp: null, ...annotations };
    return { type: "BOOKMARK", object: { kind: resource.kind, metadata } };
  }
}

/**
 * What a selecting watch shows of a change: an object that has come to match is new to it, one that matched is gone.
 */
function lineFor({ type, object, before, version }: Change, matches: Matches): object | undefined {
  const was = before !== undefined && type !== "ADDED" && matches(before);
  const is = type !== "DELETED" && matches(object);
  if (was && is) return { type: "MODIFIED", object };
  if (is) return { type: "ADDED", object };
  if (!was) return undefined;
  const last = type === "DELETED" ? object : before;
  const metadata = { ...last.metadata, resourceVersion: String(version) };
  return { type: "DELETED", object: { ...last, metadata } };
}

function expired(version: number): ApiResponse {
  return { status: 410, body: statusObject(410, "Expired", `too old resource version: ${version}`) };
}
