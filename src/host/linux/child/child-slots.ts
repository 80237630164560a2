import { VolumeError } from "../../../errors.ts";
import type { Cancel, Timers } from "../../../ports.ts";

/** Dependencies of limiting the children that run at once. */
export interface ChildSlotsDeps {
  readonly timers: Timers;
  readonly limits?: ChildLimits;
}

/** Volumes and servers that are remembered: those that are gone tell nobody that they are. */
const mostSlow = 2_000;

/** Whom a slot is for. */
export interface ChildWork {
  /** Undefined: of no volume, and never taken for one that hangs. */
  readonly volume?: string | undefined;
  /** Who has to answer it: what one volume has waited for in vain, the others need not try as well. */
  readonly server?: string | undefined;
  /** It takes long without anything being wrong. */
  readonly kind?: LongWork | "walk" | undefined;
}

/** What is slow by itself, and has room of its own: mkfs, e2fsck, a key that is derived, swap that is read back. */
export type LongWork = (typeof longWork)[number];
const longWork = ["format", "check", "derive", "readBack"] as const;

/** Leave to run one child. */
export interface ChildSlot {
  /** The child is told what to do: from now on it can be slow. What came before waited for our own disk. */
  begin(): void;
  /** The child has got further: one that goes through files is slow only as long as it does not. */
  heard(): void;
  /** The child has ended. */
  release(): void;
  /** The child was given up; its memory is still taken until release. */
  abandon(): void;
  /** Resolves with the milliseconds that it had, if it is to end before its deadline: too many are slow. */
  readonly crowdedOut: Promise<number>;
}

type State = "quick" | "slow" | LongWork | "walk" | "abandoned";

interface Waiter {
  readonly work: ChildWork;
  start(state: State): void;
}

/** Children of one volume, or of one server, which hang together. */
type Party = `volume ${string}` | `server ${string}`;

/**
 * How many children run beside each other: first come, first served, as far as there is room for its kind. A child that
 * waits for a server or a disk makes room for the quick ones of other volumes before it is given up, and the next one
 * of its volume or server counts as slow from the start: volumes that hang for good leave room to those that do not.
 * However many hang at once for the first time, those that are slow never take the room of others for longer than it
 * takes to be slow.
 */
export class ChildSlots {
  readonly #timers: Timers;
  readonly #limits: ChildLimits;
  readonly #waiting = new Set<Waiter>();
  readonly #children: Record<State, number> = {
    quick: 0,
    slow: 0,
    format: 0,
    check: 0,
    derive: 0,
    readBack: 0,
    walk: 0,
    abandoned: 0,
  };
  /** Whose last child was slow, with how many of such children have not ended. */
  readonly #slow = new Map<Party, number>();

  constructor({ timers, limits = defaultLimits }: ChildSlotsDeps) {
    this.#timers = timers;
    this.#limits = limits;
  }

  /** @throws VolumeError ProcessLimitReached, transient, if there was no room for a while */
  async acquire(work: ChildWork = {}): Promise<ChildSlot> {
    let state = this.#stateOf(work);
    if (this.#hasRoom(state)) this.#children[state]++;
    else state = await this.#wait(work);
    return this.#slot(work, state);
  }

  #stateOf(work: ChildWork): State {
    if (isLong(work.kind)) return work.kind;
    return partiesOf(work).some((party) => this.#slow.has(party)) ? "slow" : (work.kind ?? "quick");
  }

  /** Resolves when the child was counted, with what it was counted as. */
  #wait(work: ChildWork): Promise<State> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        work,
        start(state) {
          cancel();
          resolve(state);
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
    const { abandoned, ...working } = this.#children;
    const atWork = Object.values(working).reduce((sum, children) => sum + children, 0);
    const message = `the agent has ${atWork} processes at work, and ${abandoned} that do not end, even killed: this volume waits for its turn`;
    return new VolumeError("ProcessLimitReached", "transient", message);
  }

  #hasRoom(state: State): boolean {
    const { quick, slow, walk, abandoned } = this.#children;
    const limits = this.#limits;
    if (isLong(state)) return this.#children[state] < limits[state];
    if (quick + slow + walk + abandoned >= limits.total) return false;
    if (state === "walk") return walk < limits.walk;
    if (quick + slow >= limits.all) return false;
    return state === "slow" ? slow < limits.slow && abandoned < limits.abandoned : quick < limits.quick;
  }

  #slot(work: ChildWork, first: State): ChildSlot {
    let state: State | undefined = first;
    let cancel: Cancel | undefined;
    let slow = false;
    const isSlow = () => {
      if (!slow) this.#remember(work);
      slow = true;
    };
    const move = (to: State | undefined) => {
      if (state === undefined) return;
      this.#children[state]--;
      if (to !== undefined) this.#children[to]++;
      state = to;
      this.#next();
    };
    const { promise: crowdedOut, resolve: crowdOut } = Promise.withResolvers<number>();
    const late = () => {
      if (isLong(first)) return;
      isSlow();
      const isMany = state !== "slow" && this.#children.slow >= this.#limits.slow;
      if (isMany && work.volume !== undefined) crowdOut(this.#limits.slowMs);
      else move("slow");
    };
    const begin = () => {
      cancel?.();
      cancel = this.#timers.after(this.#limits.slowMs, late);
    };
    return {
      crowdedOut,
      begin,
      heard: () => {
        if (work.kind !== "walk" || state === undefined || state === "abandoned") return;
        begin();
        if (slow) this.#ended(work);
        slow = false;
        this.#answered(work);
        if (state === "slow" && this.#children.walk < this.#limits.walk) move("walk");
        else this.#next();
      },
      release: () => {
        if (state === undefined) return;
        cancel?.();
        if (slow) this.#ended(work);
        else if (cancel !== undefined && !isLong(first)) this.#answered(work);
        move(undefined);
      },
      abandon: () => {
        cancel?.();
        isSlow();
        move("abandoned");
      },
    };
  }

  #remember(work: ChildWork): void {
    for (const party of partiesOf(work)) {
      const hanging = this.#slow.get(party) ?? 0;
      this.#slow.delete(party);
      this.#slow.set(party, hanging + 1);
    }
    if (this.#slow.size <= mostSlow) return;
    const [oldest] = [...this.#slow].find(([, hanging]) => hanging === 0) ?? [];
    if (oldest !== undefined) this.#slow.delete(oldest);
  }

  #ended(work: ChildWork): void {
    for (const party of partiesOf(work)) this.#slow.set(party, (this.#slow.get(party) ?? 1) - 1);
  }

  /** One that was quick says nothing while others hang: it may have asked for what needs no answer, as an unmount. */
  #answered(work: ChildWork): void {
    for (const party of partiesOf(work)) if (this.#slow.get(party) === 0) this.#slow.delete(party);
  }

  #next(): void {
    for (const waiter of this.#waiting) {
      const state = this.#stateOf(waiter.work);
      if (!this.#hasRoom(state)) continue;
      this.#waiting.delete(waiter);
      this.#children[state]++;
      waiter.start(state);
    }
  }
}

function isLong(state: string | undefined): state is LongWork {
  return longWork.some((kind) => kind === state);
}

function partiesOf({ volume, server }: ChildWork): Party[] {
  return [
    ...(volume === undefined ? [] : [`volume ${volume}` as const]),
    ...(server === undefined ? [] : [`server ${server}` as const]),
  ];
}

/** How many children run beside each other (ChildSlots). */
export interface ChildLimits {
  /** Children at once that are not slow. */
  readonly quick: number;
  /** Slow children at once. No volume whose last one was slow gets another beyond that, and who gets slow is ended. */
  readonly slow: number;
  /** Both together. */
  readonly all: number;
  /** Children that make a file system, or grow one. */
  readonly format: number;
  /** Children that look a file system through, hours perhaps: they hold up each other, and nobody else. */
  readonly check: number;
  /** Children that need much memory: a key is derived. */
  readonly derive: number;
  /** Children that read back what was swapped out: each goes on until it is done, or its deadline. */
  readonly readBack: number;
  /** Children that go through all files of a volume, and get further. Those that do not are slow. */
  readonly walk: number;
  /** Milliseconds after which a child is slow; one that goes through files, when it has got no further for so long. */
  readonly slowMs: number;
  /** Milliseconds that a volume waits for a slot. */
  readonly waitMs: number;
  /** Children that were given up and have not ended, after which no volume whose last one was slow gets another. */
  readonly abandoned: number;
  /** Those that run and those that were given up, without those of `format`, `check`, `derive` and `readBack`. */
  readonly total: number;
}

/**
 * A child of ours takes about 14 MB, and the agent's pod has 512 MB: 28 of them fit beside the agent, and a few mkfs,
 * e2fsck, swapoff and cryptsetup, which are no processes of ours any more. Two cores do not start more than 8 at once
 * any faster.
 */
const defaultLimits: ChildLimits = {
  quick: 8,
  slow: 6,
  all: 16,
  format: 4,
  check: 4,
  derive: 2,
  readBack: 4,
  walk: 4,
  slowMs: 10_000,
  waitMs: 10_000,
  abandoned: 12,
  total: 28,
};
