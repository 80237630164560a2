import type { KubeObject } from "../../api/meta.ts";
import { messageOf } from "../../errors.ts";
import type { Cancel, Clock, Logger } from "../../ports.ts";
import { sameJson } from "../same-json.ts";
import { compareResourceVersions } from "./resource-version.ts";

/** Told of each change after the store has it. What is thrown is logged and goes no further. */
interface StoreHandlers<T> {
  onAdd?(object: T): void;
  onUpdate?(before: T, after: T): void;
  /**
   * @param lastKnown the deletion itself was not seen (it fell into a gap between two watches): `object` is what was
   * last known, not the state it was deleted in.
   */
  onDelete?(object: T, lastKnown: boolean): void;
  /** The store was filled for the first time, or the connection came or went. */
  onState?(state: StoreState): void;
}

/** How current a store is. */
export interface StoreState {
  /** Whether a complete list was read since the start. */
  readonly synced: boolean;
  /** Whether changes arrive. If not, the store still has what it had. */
  readonly connected: boolean;
  /** When `connected` became what it is, in milliseconds since the epoch. */
  readonly since: number;
}

/** The objects of one resource as last seen, by namespace and name. */
export interface ObjectStore<T extends KubeObject> {
  get(name: string, namespace?: string): T | undefined;
  /** In no order. */
  list(): IterableIterator<T>;
  readonly size: number;
  state(): StoreState;
  /** Objects that are there already are not told. */
  subscribe(handlers: StoreHandlers<T>): Cancel;
}

/** The side of the store that the reflector writes. */
export interface MutableStore<T extends KubeObject> extends ObjectStore<T> {
  /**
   * Replaces the contents by a complete list at `resourceVersion`, which was requested after all watch events so far.
   * Objects that the list lacks are deleted, unless they are newer than the list. A list that is older than the watch
   * can only be of another history, as after a restore of etcd: then everything is taken from it, older versions
   * included.
   *
   * Yields after each object: until the last one the store holds a mixture. Meanwhile only upsertIfNewer may write to
   * it.
   */
  replaceAll(objects: readonly T[], resourceVersion: string): Generator<void, void>;
  /**
   * The object as the store has it, if nothing of it is another, else the one that is given: a large collection that is
   * listed again then takes no room for a second one. In another history the same version may be of another content.
   */
  kept(object: T): T;
  upsert(object: T): void;
  delete(object: T): void;
  /** An object that has become one which is not kept, or was deleted as such. */
  leaveOut(object: KubeObject): void;
  /** All changes up to this resourceVersion have been seen. */
  advance(resourceVersion: string): void;
  /**
   * Takes in an object that did not come by the watch, if the watch has not come that far yet. Since all versions of a
   * resource are ordered, what the watch has passed and does not show was deleted, and is not brought back.
   */
  upsertIfNewer(object: T): boolean;
  setConnected(connected: boolean): void;

  // Of a collection that is read object by object, and not by a watch:

  /**
   * What a read has shown that was asked for after all that the store has of the object. So it is older only in another
   * history, as after etcd was restored from a backup: then it counts all the same.
   */
  take(object: T): void;
  /** Such a read has found nothing. */
  gone(name: string): void;
  /** Everything there is has been read. */
  setSynced(): void;
}

const goneBack = "the API server has returned to an older state: all objects are read again";

/** An empty store. */
export function createObjectStore<T extends KubeObject>(deps: { clock: Clock; log: Logger }): MutableStore<T> {
  const objects = new Map<string, T>();
  const subscribers = new Set<StoreHandlers<T>>();
  let seen = "";
  let state: StoreState = { synced: false, connected: false, since: deps.clock.now() };

  function notify(tell: (handlers: StoreHandlers<T>) => void): void {
    for (const handlers of [...subscribers]) {
      try {
        tell(handlers);
      } catch (error) {
        deps.log.error("a handler of the object store failed", { error: messageOf(error) });
      }
    }
  }

  function put(object: T): boolean {
    const before = objects.get(storeKey(object));
    if (before !== undefined && compareResourceVersions(versionOf(object), versionOf(before)) <= 0) return false;
    set(object, before);
    return true;
  }

  function set(object: T, before: T | undefined): void {
    objects.set(storeKey(object), object);
    if (before === undefined) notify((h) => h.onAdd?.(object));
    else if (before.metadata.uid === object.metadata.uid) notify((h) => h.onUpdate?.(before, object));
    else {
      // Another object of the same name: the deletion between the two was not seen.
      notify((h) => h.onDelete?.(before, true));
      notify((h) => h.onAdd?.(object));
    }
  }

  /** Versions of one history only grow: nothing that the list is not older than can be newer than what it shows. */
  function* isOtherHistory(listed: readonly T[], resourceVersion: string): Generator<void, boolean> {
    if (compareResourceVersions(resourceVersion, seen) < 0) return true;
    for (const object of listed) {
      const before = objects.get(storeKey(object));
      const older = before !== undefined && compareResourceVersions(versionOf(object), versionOf(before)) < 0;
      if (older && compareResourceVersions(versionOf(before), resourceVersion) <= 0) return true;
      yield;
    }
    return false;
  }

  function remove(object: T, lastKnown: boolean): void {
    objects.delete(storeKey(object));
    notify((h) => h.onDelete?.(object, lastKnown));
  }

  function advance(resourceVersion: string): void {
    if (compareResourceVersions(resourceVersion, seen) > 0) seen = resourceVersion;
  }

  function setState(next: Omit<StoreState, "since">): void {
    if (next.synced === state.synced && next.connected === state.connected) return;
    const since = next.connected === state.connected ? state.since : deps.clock.now();
    state = { ...next, since };
    notify((h) => h.onState?.(state));
  }

  return {
    get: (name, namespace) => objects.get(keyOf(name, namespace)),
    list: () => objects.values(),
    get size() {
      return objects.size;
    },
    state: () => state,
    subscribe(handlers) {
      subscribers.add(handlers);
      return () => subscribers.delete(handlers);
    },

    *replaceAll(listed, resourceVersion) {
      const otherHistory = yield* isOtherHistory(listed, resourceVersion);
      if (otherHistory) {
        deps.log.error(goneBack, { resourceVersion, seen });
        seen = "";
      }
      const wanted = new Set<string>();
      for (const object of listed) {
        const key = storeKey(object);
        wanted.add(key);
        if (otherHistory) set(object, objects.get(key));
        else put(object);
        yield;
      }
      for (const [key, object] of objects) {
        const newer = !otherHistory && compareResourceVersions(versionOf(object), resourceVersion) > 0;
        if (!wanted.has(key) && !newer) remove(object, true);
        yield;
      }
      advance(resourceVersion);
      setState({ synced: true, connected: state.connected });
    },
    kept(object) {
      const before = objects.get(storeKey(object));
      if (before === undefined || versionOf(before) !== versionOf(object)) return object;
      return sameJson(before, object) ? before : object;
    },
    upsert(object) {
      put(object);
      advance(versionOf(object));
    },
    delete(object) {
      const before = objects.get(storeKey(object));
      if (before !== undefined && compareResourceVersions(versionOf(before), versionOf(object)) <= 0) {
        // The event carries the last state of the object, which is what it was deleted in.
        remove(before.metadata.uid === object.metadata.uid ? object : before, false);
      }
      advance(versionOf(object));
    },
    leaveOut(object) {
      const before = objects.get(storeKey(object));
      if (before !== undefined && compareResourceVersions(versionOf(before), versionOf(object)) < 0) {
        remove(before, true);
      }
      advance(versionOf(object));
    },
    advance,
    upsertIfNewer(object) {
      return compareResourceVersions(versionOf(object), seen) > 0 && put(object);
    },
    setConnected: (connected) => setState({ synced: state.synced, connected }),
    take(object) {
      const before = objects.get(storeKey(object));
      const order = before === undefined ? 1 : compareResourceVersions(versionOf(object), versionOf(before));
      if (order === 0) return;
      if (order < 0) deps.log.error(goneBack, { resourceVersion: versionOf(object), seen: versionOf(before) });
      set(object, before);
    },
    gone(name) {
      const before = objects.get(name);
      if (before !== undefined) remove(before, true);
    },
    setSynced: () => setState({ synced: true, connected: state.connected }),
  };
}

function versionOf(object: KubeObject | undefined): string {
  return object?.metadata.resourceVersion ?? "";
}

/** What distinguishes an object from the others of its resource at one moment. */
export function storeKey({ metadata }: KubeObject): string {
  return keyOf(metadata.name, metadata.namespace);
}

function keyOf(name: string, namespace?: string): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}
