import { VolumeError } from "../../errors.ts";
import type { Cancel, Timers } from "../../ports.ts";

export interface ChildSlotsDeps {
  readonly timers: Timers;
  readonly limits?: ChildLimits;
}

export interface ChildLimits {
  /** Children at once that are not slow. */
  readonly quick: number;
  /** Children at once, with the slow ones. */
  readonly all: number;
  /** Milliseconds after which a child is slow. */
  readonly slowMs: number;
  /** Children that were given up and have not ended, after which no more are started. */
  readonly abandoned: number;
}

/**
 * A child of ours takes about 14 MB, and the agent's pod has 512 MB: 16 and 12 of them fit beside the agent. Two cores do
 * not start more than 8 at once any faster.
 */
const defaultLimits: ChildLimits = { quick: 8, all: 16, slowMs: 10_000, abandoned: 12 };

/** Leave to run one child. */
export interface ChildSlot {
  /** The child has ended. */
  release(): void;
  /** The child was given up; its memory is still taken until release. */
  abandon(): void;
}

/**
 * How many children run beside each other: whoever comes first is first. A child that waits for a server or a disk makes
 * room for the quick ones of other volumes before it is given up.
 */
export class ChildSlots {
  readonly #timers: Timers;
  readonly #limits: ChildLimits;
  readonly #waiting: (() => void)[] = [];
  #quick = 0;
  #slow = 0;
  #abandoned = 0;

  constructor({ timers, limits = defaultLimits }: ChildSlotsDeps) {
    this.#timers = timers;
    this.#limits = limits;
  }

  /** @throws VolumeError OperationAbandoned, transient, if so many children hang that no more may be started */
  async acquire(): Promise<ChildSlot> {
    if (this.#abandoned >= this.#limits.abandoned) {
      const message = `${this.#abandoned} processes of the agent do not end, even killed: no more are started until some do`;
      throw new VolumeError("OperationAbandoned", "transient", message);
    }
    if (this.#waiting.length > 0 || !this.#hasRoom()) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve)); // counted by whoever resolves it
    } else this.#quick++;
    return this.#slot();
  }

  #hasRoom(): boolean {
    return this.#quick < this.#limits.quick && this.#quick + this.#slow < this.#limits.all;
  }

  #slot(): ChildSlot {
    let state: "quick" | "slow" | "abandoned" | "ended" = "quick";
    let cancel: Cancel = () => {};
    const move = (to: typeof state) => {
      if (state === "ended") return;
      cancel();
      this.#count(state, -1);
      this.#count(to, 1);
      state = to;
      this.#next();
    };
    cancel = this.#timers.after(this.#limits.slowMs, () => move("slow"));
    return { release: () => move("ended"), abandon: () => move("abandoned") };
  }

  #count(state: "quick" | "slow" | "abandoned" | "ended", change: 1 | -1): void {
    if (state === "quick") this.#quick += change;
    else if (state === "slow") this.#slow += change;
    else if (state === "abandoned") this.#abandoned += change;
  }

  #next(): void {
    while (this.#hasRoom()) {
      const first = this.#waiting.shift();
      if (first === undefined) return;
      this.#quick++;
      first();
    }
  }
}
