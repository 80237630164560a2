import { VolumeError } from "../../errors.ts";
import type { Timers } from "../../ports.ts";

export interface ChildSlotsDeps {
  readonly timers: Timers;
  readonly limits?: ChildLimits;
}

export interface ChildLimits {
  /** Children at once that are not slow. */
  readonly quick: number;
  /** Children at once that are slow, beyond which no volume whose last one was slow gets another. */
  readonly slow: number;
  /** Both together. */
  readonly all: number;
  /** Children that make a file system. */
  readonly format: number;
  /** Milliseconds after which a child is slow. */
  readonly slowMs: number;
  /** Milliseconds that a volume waits for a slot. */
  readonly waitMs: number;
  /** Children that were given up and have not ended, after which no volume whose last one was slow gets another. */
  readonly abandoned: number;
  /** Those that run and those that were given up, without those that make a file system. */
  readonly total: number;
}

/**
 * A child of ours takes about 14 MB, and the agent's pod has 512 MB: 28 of them fit beside the agent, and a few mkfs,
 * which are no processes of ours any more. Two cores do not start more than 8 at once any faster.
 */
const defaultLimits: ChildLimits = {
  quick: 8,
  slow: 6,
  all: 16,
  format: 4,
  slowMs: 10_000,
  waitMs: 10_000,
  abandoned: 12,
  total: 28,
};

/** Whom a slot is for. */
export interface ChildWork {
  /** Undefined: of no volume, and never taken for one that hangs. */
  readonly volume?: string | undefined;
  /** It makes a file system, which takes minutes without anything being wrong. */
  readonly formats?: boolean;
}

/** Leave to run one child. */
export interface ChildSlot {
  /** The child has ended. */
  release(): void;
  /** The child was given up; its memory is still taken until release. */
  abandon(): void;
}

type State = "quick" | "slow" | "format" | "abandoned";

interface Waiter {
  readonly state: State;
  start(): void;
}

/**
 * How many children run beside each other: first come, first served, as far as there is room for its kind. A child that
 * waits for a server or a disk makes room for the quick ones of other volumes before it is given up, and the next one of
 * its volume counts as slow from the start: volumes that hang for good leave room to those that do not.
 */
export class ChildSlots {
  readonly #timers: Timers;
  readonly #limits: ChildLimits;
  readonly #waiting = new Set<Waiter>();
  readonly #children: Record<State, number> = { quick: 0, slow: 0, format: 0, abandoned: 0 };
  /** Volumes whose last child was slow. */
  readonly #slowVolumes = new Set<string>();

  constructor({ timers, limits = defaultLimits }: ChildSlotsDeps) {
    this.#timers = timers;
    this.#limits = limits;
  }

  /** @throws VolumeError ProcessLimitReached, transient, if there was no room for a while */
  async acquire(work: ChildWork = {}): Promise<ChildSlot> {
    const state = this.#stateOf(work);
    if (this.#hasRoom(state)) this.#children[state]++;
    else await this.#wait(state);
    return this.#slot(work.volume, state);
  }

  #stateOf({ volume, formats }: ChildWork): State {
    if (formats === true) return "format";
    return volume !== undefined && this.#slowVolumes.has(volume) ? "slow" : "quick";
  }

  /** Resolves when the child was counted. */
  #wait(state: State): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiter = {
        state,
        start() {
          cancel();
          resolve();
        },
      };
      this.#waiting.add(waiter);
      const cancel = this.#timers.after(this.#limits.waitMs, () => {
        this.#waiting.delete(waiter);
        reject(this.#noRoom());
      });
    });
  }

  #noRoom(): VolumeError {
    const { quick, slow, format, abandoned } = this.#children;
    const message = `the agent has ${quick + slow + format} processes at work, and ${abandoned} that do not end, even killed: this volume waits for its turn`;
    return new VolumeError("ProcessLimitReached", "transient", message);
  }

  #hasRoom(state: State): boolean {
    const { quick, slow, format, abandoned } = this.#children;
    const limits = this.#limits;
    if (state === "format") return format < limits.format;
    if (quick + slow >= limits.all || quick + slow + abandoned >= limits.total) return false;
    return state === "slow" ? slow < limits.slow && abandoned < limits.abandoned : quick < limits.quick;
  }

  #slot(volume: string | undefined, first: State): ChildSlot {
    let state: State | undefined = first;
    let slow = false;
    const move = (to: State | undefined) => {
      if (state === undefined) return;
      this.#children[state]--;
      if (to !== undefined) this.#children[to]++;
      state = to;
      this.#next();
    };
    const cancel = this.#timers.after(this.#limits.slowMs, () => {
      if (first === "format") return;
      slow = true;
      if (volume !== undefined) this.#slowVolumes.add(volume);
      move("slow");
    });
    return {
      release: () => {
        cancel();
        if (volume !== undefined && !slow && first !== "format") this.#slowVolumes.delete(volume);
        move(undefined);
      },
      abandon: () => {
        cancel();
        if (volume !== undefined) this.#slowVolumes.add(volume);
        slow = true;
        move("abandoned");
      },
    };
  }

  #next(): void {
    for (const waiter of this.#waiting) {
      if (!this.#hasRoom(waiter.state)) continue;
      this.#waiting.delete(waiter);
      this.#children[waiter.state]++;
      waiter.start();
    }
  }
}
