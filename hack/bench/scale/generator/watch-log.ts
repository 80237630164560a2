/** One change of a collection. */
export interface Change {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly resourceVersion: number;
  /** JSON of the object; of one that was deleted its last state. */
  readonly text: string;
  readonly before: string | undefined;
}

/** The last changes of a collection, from which watches go on. */
export interface WatchLog {
  append(change: Change): void;
  /** The changes after `resourceVersion`; undefined if they are not known any more (410). */
  since(resourceVersion: number): readonly Change[] | undefined;
  /** Told of each change from now on. @returns ends it */
  follow(tell: (change: Change) => void): () => void;
}

/** More than a controller that is started again has missed. A real server's watch cache has 100 to 102,400. */
const length = 50_000;

/** @param from the resourceVersion before which nothing is known */
export function createWatchLog(from: number, longest = length): WatchLog {
  let changes: Change[] = [];
  /** The last version that was forgotten. */
  let forgotten = from - 1;
  const followers = new Set<(change: Change) => void>();
  return {
    append(change) {
      changes.push(change);
      if (changes.length > longest * 1.25) {
        forgotten = changes.at(-longest - 1)?.resourceVersion ?? forgotten;
        changes = changes.slice(-longest);
      }
      for (const tell of followers) tell(change);
    },
    since(resourceVersion) {
      if (resourceVersion < forgotten) return undefined;
      let first = changes.length;
      while (first > 0 && (changes[first - 1]?.resourceVersion ?? 0) > resourceVersion) first -= 1;
      return changes.slice(first);
    },
    follow(tell) {
      followers.add(tell);
      return () => followers.delete(tell);
    },
  };
}
