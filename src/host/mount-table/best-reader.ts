import { messageOf } from "../../errors.ts";
import type { System } from "../../ports.ts";
import type { MountReader } from "./mount-reader.ts";
import type { MountTier } from "./mount-table-source.ts";

/**
 * When better ways than the one in use are tried again, in milliseconds: half of it, and as much again by chance. What
 * failed may have been a want of memory.
 */
const betterMs = 90 * 60_000;

/** Dependencies of choosing the best source of a mount table. */
export interface BestReaderDeps {
  readonly system: Pick<System, "clock" | "random" | "log">;
  /** Whose table it is, for the log. */
  readonly name: string;
  /** Ways to keep it, best first. */
  readonly tiers: readonly MountTier[];
  /** Opens it in one way. Throws if that is not to be had here. */
  open(tier: MountTier): MountReader;
  /** Told of each reader that is in use from now on. */
  onOpened(reader: MountReader): void;
}

/** The reader in use: of the best way that works, of which one that fails is tried again after a while. */
export class BestReader {
  readonly #deps: BestReaderDeps;
  /** Which of the ways is in use, or is tried next. */
  #at = 0;
  #reader: MountReader | undefined;
  #demotions = 0;
  #overflows = 0;
  /** When better ways are tried, by the monotonic clock. */
  #betterAt = 0;

  constructor(deps: BestReaderDeps) {
    this.#deps = deps;
  }

  /** Undefined until it is asked for, and after close(). */
  get current(): MountReader | undefined {
    return this.#reader;
  }

  /** Whether there is a worse way than the one in use. */
  get hasNext(): boolean {
    return this.#at < this.#deps.tiers.length - 1;
  }

  /** Times that a way which had worked was left. */
  get demotions(): number {
    return this.#demotions;
  }

  /** Of all readers. */
  get overflows(): number {
    return this.#overflows + (this.#reader?.overflows ?? 0);
  }

  /** @throws Error if the way whose turn it is cannot be had */
  get(): MountReader {
    return this.#reader ?? this.#open(this.#at);
  }

  /** The next way's turn. One that never worked is not to be had here; one that did should still work. */
  giveUp(error: unknown): void {
    const worked = this.#reader !== undefined;
    this.#log(worked ? "warn" : "info", "the mount table is not kept in this way", this.#at, error);
    if (worked) this.#demotions += 1;
    this.close();
    this.#at += 1;
    this.#waitForBetter();
  }

  /** Goes back to the best way that can be had, if it is time for it. */
  tryBetter(): void {
    if (this.#at === 0 || this.#deps.system.clock.monotonic() < this.#betterAt) return;
    this.#waitForBetter();
    for (let at = 0; at < this.#at; at++) {
      try {
        this.#open(at);
        return;
      } catch (error) {
        this.#log("debug", "the mount table is still not kept in this way", at, error);
      }
    }
  }

  close(): void {
    this.#overflows += this.#reader?.overflows ?? 0;
    this.#reader?.[Symbol.dispose]();
    this.#reader = undefined;
  }

  #open(at: number): MountReader {
    const { tiers, open, onOpened } = this.#deps;
    const tier = tiers[at];
    if (tier === undefined) throw new Error("there is no way to read it");
    const reader = open(tier);
    this.close();
    this.#reader = reader;
    this.#at = at;
    this.#log("info", "the mount table is kept", at);
    onOpened(reader);
    return reader;
  }

  #waitForBetter(): void {
    const { clock, random } = this.#deps.system;
    this.#betterAt = clock.monotonic() + (betterMs / 2) * (1 + random.next());
  }

  #log(level: "debug" | "info" | "warn", message: string, at: number, error?: unknown): void {
    const { system, name, tiers } = this.#deps;
    const about = { table: name, tier: tiers[at] };
    system.log[level](message, error === undefined ? about : { ...about, error: messageOf(error) });
  }
}
