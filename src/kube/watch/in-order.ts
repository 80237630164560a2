import type { Yielder } from "../../ports.ts";
import { runYielding } from "./yielding.ts";

/** Lets things happen at once, and while something is awaited, afterwards, in the order in which they came. */
export interface InOrder {
  do(act: () => void): void;
  /** Resolves when `awaited` has, and all that came meanwhile is done; rejects if either fails. */
  after(awaited: Promise<void>): Promise<void>;
}

/** Keeps the order of changes while one of them takes more than one turn of the event loop. */
export function createInOrder(yielder: Yielder): InOrder {
  let held: (() => void)[] | undefined;

  function* heldBack(): Generator<void> {
    // What comes meanwhile is put at its end.
    for (const act of held ?? []) {
      act();
      yield;
    }
    held = undefined;
  }

  return {
    do(act) {
      if (held === undefined) act();
      else held.push(act);
    },
    async after(awaited) {
      held = [];
      await awaited;
      await runYielding(yielder, heldBack());
    },
  };
}
