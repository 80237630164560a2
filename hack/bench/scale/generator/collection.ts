import { createWatchLog, type WatchLog } from "./watch-log.ts";

/** Objects that are there at first, written when they are asked for: a hundred thousand Pods take no memory. */
export interface Base {
  readonly count: number;
  key(index: number): string;
  /** Its JSON, with the resourceVersion. */
  text(index: number): string;
  indexOf(key: string): number | undefined;
  /** undefined: all, of which the collection leaves out what is elsewhere. */
  inNamespace?(namespace: string): Iterable<number>;
  /** Fields by which they are selected, and that are the same in each. */
  readonly fields?: { readonly [path: string]: string };
}

/** All objects of one resource at one moment. */
interface Snapshot {
  readonly resourceVersion: number;
  /** JSON, and whether the object is as it was generated. */
  objects(): IterableIterator<{ readonly text: string; readonly generated: boolean }>;
}

/** The objects of one resource: those of the base, and beside them what was written. */
export interface Collection {
  readonly log: WatchLog;
  readonly base: Base | undefined;
  /** JSON of the object; undefined if there is none. */
  get(key: string): string | undefined;
  /** Stores and tells the watches. */
  put(key: string, text: string, resourceVersion: number): void;
  /** @param text the object's last state, with the version of its deletion */
  remove(key: string, text: string, resourceVersion: number): void;
  snapshot(namespace?: string): Snapshot;
  readonly size: number;
}

/** @param version the resourceVersion that the server has reached */
export function createCollection(version: () => number, base?: Base): Collection {
  /** undefined: an object of the base that was deleted. */
  const written = new Map<string, string | undefined>();
  const log = createWatchLog(version());
  let size = base?.count ?? 0;

  function get(key: string): string | undefined {
    if (written.has(key)) return written.get(key);
    const index = base?.indexOf(key);
    return index === undefined ? undefined : base?.text(index);
  }

  function* generated(of: Base, apart: ReadonlySet<string>, namespace: string | undefined) {
    const indices = namespace === undefined ? undefined : of.inNamespace?.(namespace);
    const one = (index: number) => (apart.has(of.key(index)) ? [] : [{ text: of.text(index), generated: true }]);
    if (indices !== undefined) for (const index of indices) yield* one(index);
    else for (let index = 0; index < of.count; index += 1) yield* one(index);
  }

  return {
    log,
    base,
    get,
    put(key, text, resourceVersion) {
      const before = get(key);
      if (before === undefined) size += 1;
      written.set(key, text);
      log.append({ type: before === undefined ? "ADDED" : "MODIFIED", resourceVersion, text, before });
    },
    remove(key, text, resourceVersion) {
      const before = get(key);
      size -= 1;
      if (base?.indexOf(key) === undefined) written.delete(key);
      else written.set(key, undefined);
      log.append({ type: "DELETED", resourceVersion, text, before });
    },
    snapshot(namespace) {
      // Texts never change, so this is the state of now however long it takes to read.
      const kept = [...written];
      const apart = new Set(written.keys());
      const inside = (key: string) => namespace === undefined || key.startsWith(`${namespace}/`);
      return {
        resourceVersion: version(),
        *objects() {
          if (base !== undefined) yield* generated(base, apart, namespace);
          for (const [key, text] of kept) if (text !== undefined && inside(key)) yield { text, generated: false };
        },
      };
    },
    get size() {
      return size;
    },
  };
}
