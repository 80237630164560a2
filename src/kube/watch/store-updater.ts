import type { KubeObject } from "../../api/meta.ts";
import type { Yielder } from "../../ports.ts";
import { type MutableStore, storeKey } from "./object-store.ts";
import type { WatchChange } from "./watch-stream.ts";
import { runYielding } from "./yielding.ts";

/** Dependencies of taking objects into a store. */
export interface StoreUpdaterDeps<T extends KubeObject> {
  readonly store: MutableStore<T>;
  readonly yielder: Yielder;
  readonly project: (raw: unknown) => T | undefined;
}

/** How what the server says enters a store. */
export interface StoreUpdater<T extends KubeObject> {
  /**
   * Changes arrive. While a list is half taken in the store does not say so: nobody shall decide by what it then holds.
   */
  connected(): void;
  /** A change of an object, or none and how far the watch is. */
  change(event: WatchChange): void;
  /** One of those that a watch begins with. Changes that happen meanwhile arrive among them. */
  initial(listed: Map<string, T>, event: WatchChange): undefined;
  /** Objects of a page. */
  objectsOf(raw: readonly unknown[]): T[];
  /**
   * Makes the store what was listed.
   * @param cancelled asked after each turn: it stays half done, as all is listed again
   * @returns undefined if that was done at once, else when it is done or was cancelled
   */
  list(objects: readonly T[], resourceVersion: string, cancelled: () => boolean): Promise<void> | undefined;
}

/** Takes lists and events into a store, in turns that leave the event loop free between them. */
export function createStoreUpdater<T extends KubeObject>({
  store,
  yielder,
  project,
}: StoreUpdaterDeps<T>): StoreUpdater<T> {
  let halfTaken = false;

  return {
    connected() {
      if (!halfTaken) store.setConnected(true);
    },
    change(event) {
      if (event.type !== "BOOKMARK") {
        const object = project(event.object);
        if (object === undefined) store.leaveOut(event.object as KubeObject);
        else if (event.type === "DELETED") store.delete(object);
        else store.upsert(object);
      }
      store.advance(event.resourceVersion);
    },
    initial(listed, event) {
      if (event.type === "BOOKMARK") return;
      const object = project(event.object);
      if (object !== undefined && event.type !== "DELETED") listed.set(storeKey(object), store.kept(object));
      else listed.delete(storeKey(event.object as KubeObject));
    },
    objectsOf: (raw) =>
      raw.flatMap((one) => {
        const object = project(one);
        return object === undefined ? [] : [store.kept(object)];
      }),
    list(objects, resourceVersion, cancelled) {
      function* steps(): Generator<void> {
        for (const all = store.replaceAll(objects, resourceVersion); all.next().done !== true; ) {
          yield;
          if (cancelled()) return;
        }
        if (!halfTaken) return;
        halfTaken = false;
        store.setConnected(true);
      }
      const rest = runYielding(yielder, steps());
      if (rest === undefined) return undefined;
      halfTaken = true;
      store.setConnected(false);
      return rest;
    },
  };
}
