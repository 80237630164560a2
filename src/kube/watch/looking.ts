import type { Cancel } from "../../ports.ts";
import type { FullResync } from "./yielding.ts";

/** What is told of every change of a store's objects in the same way. */
export function onEach<T>(see: (object: T) => void) {
  return { onAdd: see, onUpdate: (_: T, after: T) => see(after), onDelete: see };
}

/** How to begin and end what looks at all there is in turns, and is told of changes. */
export function looking(resync: FullResync, cancels: readonly Cancel[]): { all(): void; stop(): void } {
  return {
    all: resync.begin,
    stop() {
      resync.stop();
      for (const cancel of cancels) cancel();
    },
  };
}
