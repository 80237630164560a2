import type { Cancel, Timers } from "../ports.ts";

/** Milliseconds after which people are told of it, and then again each time (behaviour 76). */
const tellAfterMs = 30_000;
const tellEachMs = 60_000;

/** Files that are being given to a group, for long enough to be told of. */
export interface OwnershipChange {
  /** The target that waits for it. */
  readonly path: string;
  readonly fsGroup: number;
  /** How many files were come to when it was told last. */
  readonly entries: number;
}

export interface RunningChange {
  /** The count of files that were come to so far. */
  reached(entries: number): void;
  ended(): void;
}

/** Those that run, by volume: at most one of each (law L4). */
export class OwnershipChanges {
  readonly #timers: Timers;
  readonly #onTold: () => void;
  readonly #told = new Map<string, OwnershipChange>();

  constructor(timers: Timers, onTold: () => void) {
    this.#timers = timers;
    this.#onTold = onTold;
  }

  /** Those that people are to be told of, as far as they had come when it was time. */
  get told(): ReadonlyMap<string, OwnershipChange> {
    return this.#told;
  }

  begin(volume: string, what: Omit<OwnershipChange, "entries">): RunningChange {
    let entries = 0;
    let cancel: Cancel;
    const tell = () => {
      this.#told.set(volume, { ...what, entries });
      cancel = this.#timers.after(tellEachMs, tell);
      this.#onTold();
    };
    cancel = this.#timers.after(tellAfterMs, tell);
    return {
      reached(count) {
        entries = count;
      },
      ended: () => {
        cancel();
        this.#told.delete(volume);
      },
    };
  }
}
