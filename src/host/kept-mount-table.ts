import { messageOf, VolumeError } from "../errors.ts";
import type { Cancel, System } from "../ports.ts";
import type { MountReader } from "./mount-reader.ts";
import type { MountTable } from "./mount-table.ts";
import type { MountTableSource, MountTableStatus, MountTier } from "./mount-table-source.ts";

/** When everything is compared though nothing was told, in milliseconds: half of it, and as much again by chance. */
const resyncMs = 60_000;
/** When everything is compared because options may have changed unseen, in milliseconds. */
const suspectMs = 1_000;
/** And not before this many times of what the last comparison took: half a percent of the time at most. */
const restFactor = 200;
/** Time between two wake-ups in milliseconds, where each makes somebody read the whole text (technique.md A.3). */
const spacingMs = 50;
/** Mounts that a line of the log names. */
const named = 3;

export interface KeptMountTableDeps {
  readonly system: System;
  /** Whose table it is, for the log. */
  readonly name: string;
  /** Ways to keep it, best first. */
  readonly tiers: readonly MountTier[];
  /** Opens it in one way. Throws if that is not to be had here. */
  open(tier: MountTier): MountReader;
  /** Told when the kernel told of changed options: of a file system they have changed in other namespaces too. */
  onOptions?(): void;
  /** Calls `onChange` when the kernel tells of a change, and once as soon as it will. */
  wake(reader: MountReader, onChange: () => void): Cancel;
}

/**
 * A mount table that is kept in the best way that works. While it is watched everything is compared now and then: what
 * nobody tells of is found so, and what should have been told of is counted.
 */
export class KeptMountTable implements MountTableSource {
  readonly #deps: KeptMountTableDeps;
  readonly #watchers = new Set<() => void>();
  #tiers: readonly MountTier[];
  #reader: MountReader | undefined;
  #resyncs = 0;
  #overflows = 0;
  #unannounced = 0;
  #optionChanges = 0;
  #toCompare = false;
  #lastCostMs = 0;
  #suspectTimer: Cancel | undefined;
  #resyncTimer: Cancel | undefined;

  constructor(deps: KeptMountTableDeps) {
    this.#deps = deps;
    this.#tiers = deps.tiers;
  }

  async read(): Promise<MountTable> {
    if (this.#toCompare) this.#attempt((reader) => reader.compare());
    this.#toCompare = false;
    return this.#readNow();
  }

  /** Somebody else was told that options have changed: the next table shows them. */
  compareNext(): void {
    this.#toCompare = true;
    for (const told of this.#watchers) told();
  }

  status(): MountTableStatus {
    const { tier, overflows = 0 } = this.#reader ?? {};
    const [resyncs, unannounced] = [this.#resyncs, this.#unannounced];
    return { tier, resyncs, overflows: this.#overflows + overflows, unannounced };
  }

  /** What the caller has changed, in options of a mount or of its file system, is in the next table. */
  recheck(id: number, of: "mount" | "filesystem"): void {
    this.#reader?.recheck(id, of);
  }

  watch(onChange: () => void): Cancel {
    const reader = this.#attempt((opened) => opened);
    const told = spaced(this.#deps.system, () => (this.#reader?.tier === "mountinfo" ? spacingMs : 0), onChange);
    const cancel = this.#deps.wake(reader, told.call);
    this.#watchers.add(told.call);
    this.#resyncLater();
    return () => {
      cancel();
      told.cancel();
      this.#watchers.delete(told.call);
      if (this.#watchers.size === 0) this.#stopTimers();
    };
  }

  /** Compares everything, and tells who watches if the table was not as it should be. */
  resync(): void {
    this.#resyncs += 1;
    const found = this.#compare();
    if (found.length === 0) return;
    this.#unannounced += found.length;
    const mounts = found.slice(0, named).join(", ");
    this.#deps.system.log.info("mounts had changed and the kernel had not told", {
      ...this.#about(),
      mounts,
      count: found.length,
    });
  }

  close(): void {
    this.#stopTimers();
    this.#watchers.clear();
    this.#reader?.[Symbol.dispose]();
    this.#reader = undefined;
  }

  #compare(): readonly string[] {
    const { clock } = this.#deps.system;
    const begun = clock.monotonic();
    const before = this.#readNow();
    const { found, wrong } = this.#attempt((reader) => reader.compare());
    this.#lastCostMs = clock.monotonic() - begun;
    if (wrong.length > 0 && this.#tiers.length > 1) {
      this.#giveUp(new Error(`it does not tell ${wrong.slice(0, named).join(", ")} as mountinfo does`));
    }
    if (this.#readNow() !== before) for (const told of this.#watchers) told();
    return found;
  }

  #readNow(): MountTable {
    const table = this.#attempt((reader) => reader.read());
    const optionChanges = this.#reader?.optionChanges ?? 0;
    const more = optionChanges > this.#optionChanges;
    this.#optionChanges = optionChanges;
    if (more) this.#deps.onOptions?.();
    return table;
  }

  /** Asks the reader, or one that keeps the table in another way if it fails. */
  #attempt<T>(ask: (reader: MountReader) => T): T {
    for (;;) {
      try {
        this.#reader ??= this.#open();
        const answer = ask(this.#reader);
        if (this.#reader.suspect) this.#compareSoon();
        return answer;
      } catch (error) {
        if (this.#tiers.length > 1) {
          this.#giveUp(error);
          continue;
        }
        const message = `the mount table cannot be read: ${messageOf(error)}`;
        throw new VolumeError("MountTableUnreadable", "transient", message, { cause: error });
      }
    }
  }

  #open(): MountReader {
    const { system, open } = this.#deps;
    const [tier] = this.#tiers;
    if (tier === undefined) throw new Error("there is no way to read it");
    const reader = open(tier);
    system.log.info("the mount table is kept", { ...this.#about(), tier });
    return reader;
  }

  #giveUp(error: unknown): void {
    const [tier] = this.#tiers;
    this.#deps.system.log.info("the mount table is not kept in this way", {
      ...this.#about(),
      tier,
      error: messageOf(error),
    });
    this.#tiers = this.#tiers.slice(1);
    this.#overflows += this.#reader?.overflows ?? 0;
    this.#reader?.[Symbol.dispose]();
    this.#reader = undefined;
  }

  #about() {
    return { table: this.#deps.name };
  }

  #compareSoon(): void {
    if (this.#suspectTimer !== undefined || this.#watchers.size === 0) return;
    const ms = Math.max(suspectMs, restFactor * this.#lastCostMs);
    this.#suspectTimer = this.#deps.system.timers.after(ms, () => {
      this.#suspectTimer = undefined;
      this.#quietly(() => this.#compare());
    });
  }

  #resyncLater(): void {
    if (this.#resyncTimer !== undefined) return;
    const { timers, random } = this.#deps.system;
    this.#resyncTimer = timers.after((resyncMs / 2) * (1 + random.next()), () => {
      this.#resyncTimer = undefined;
      this.#quietly(() => this.resync());
      if (this.#watchers.size > 0) this.#resyncLater();
    });
  }

  /** Whoever reads next gets the error. */
  #quietly(compare: () => void): void {
    try {
      compare();
    } catch (error) {
      this.#deps.system.log.error("the mount table could not be compared", {
        ...this.#about(),
        error: messageOf(error),
      });
    }
  }

  #stopTimers(): void {
    this.#suspectTimer?.();
    this.#resyncTimer?.();
    this.#suspectTimer = undefined;
    this.#resyncTimer = undefined;
  }
}

/** Calls at once, and then again after a while if it was called meanwhile. */
function spaced(
  { timers }: Pick<System, "timers">,
  spacing: () => number,
  action: () => void,
): { call(): void; cancel: Cancel } {
  let resting: Cancel | undefined;
  let again = false;
  const call = () => {
    again = resting !== undefined;
    if (again) return;
    const ms = spacing();
    if (ms > 0) resting = timers.after(ms, rested);
    action();
  };
  const rested = () => {
    resting = undefined;
    if (again) call();
  };
  return { call, cancel: () => resting?.() };
}
