import type { Yielder } from "../../ports.ts";

/** Work in pieces: each step is one. */
export type YieldingSteps = Iterator<unknown, unknown>;

/**
 * Does all steps, in as many turns as they need.
 * @returns undefined if they are done already, in this turn; else when they are. A step that throws ends them: it
 *   throws if that is in this turn, and rejects if later.
 */
export function runYielding(yielder: Yielder, steps: YieldingSteps): Promise<void> | undefined {
  return endsInThisTurn() ? undefined : rest();

  function endsInThisTurn(): boolean {
    while (steps.next().done !== true) if (yielder.over()) return false;
    return true;
  }

  async function rest(): Promise<void> {
    do await yielder.next();
    while (!endsInThisTurn());
  }
}

/** A look at everything there is, in turns. */
export interface FullResync {
  /**
   * Looks at everything that is there now: at once, as far as this turn goes. One that is under way goes on, and
   * another one follows.
   */
  begin(): void;
  /** Ends it, for good. */
  stop(): void;
}

/** @param steps of one sweep; they must not throw */
export function createFullResync(yielder: Yielder, steps: () => YieldingSteps): FullResync {
  let wanted = false;
  let underWay = false;
  let stopped = false;

  function* untilStopped(): Generator<void> {
    for (const all = steps(); !stopped && all.next().done !== true; ) yield;
  }

  function run(): void {
    underWay = true;
    while (wanted) {
      wanted = false;
      const rest = runYielding(yielder, untilStopped());
      if (rest !== undefined) {
        void rest.then(run);
        return;
      }
    }
    underWay = false;
  }

  return {
    begin() {
      if (stopped) return;
      wanted = true;
      if (!underWay) run();
    },
    stop() {
      stopped = true;
      wanted = false;
    },
  };
}
