import { listed } from "../../api/values/listed.ts";
import { messageOf, VolumeError } from "../../errors.ts";
import type { Cancel, System } from "../../ports.ts";
import { BestReader, type BestReaderDeps } from "./best-reader.ts";
import { comparedTwice, type MountReader, restFactor } from "./mount-reader.ts";
import type { MountTable } from "./mount-table.ts";
import type { MountTableSource, MountTableStatus } from "./mount-table-source.ts";

/** When everything is compared though nothing was told, in milliseconds: half of it, and as much again by chance. */
const resyncMs = 60_000;
/**
 * When everything is compared because options may have changed unseen, in milliseconds; later if comparing takes long.
 */
const suspectMs = 1_000;
/** Time between two wake-ups in milliseconds, where each makes somebody read the whole text (decision 0016). */
const spacingMs = 50;
/** Mounts that a line of the log names. */
const named = 3;

/** Who wants to be woken, and what ends the waking of the present reader. */
interface Watcher {
  readonly call: () => void;
  cancel: Cancel;
}

/** Dependencies of keeping a mount table current between reads. */
export interface WatchedMountTableDeps extends Omit<BestReaderDeps, "system" | "onOpened"> {
  readonly system: System;
  /**
   * Called after an event about changed options: the options of a file system change in other mount namespaces, too.
   */
  onOptions?(): void;
  /** Calls `onChange` when the kernel tells of a change, and once as soon as it will. */
  wake(reader: MountReader, onChange: () => void): Cancel;
}

/**
 * A mount table that is kept current by the best method that works here. While it is watched, it is compared with a
 * full read from time to time: this finds changes without an event, and counts missed events.
 */
export class WatchedMountTable implements MountTableSource {
  readonly #deps: WatchedMountTableDeps;
  readonly #watchers = new Set<Watcher>();
  readonly #best: BestReader;
  /** The last table that was read. Watchers are notified when there is another one. */
  #given: MountTable | undefined;
  #resyncs = 0;
  #unannounced = 0;
  #optionChanges = 0;
  #toCompare = false;
  #lastCostMs = 0;
  #suspectTimer: Cancel | undefined;
  #resyncTimer: Cancel | undefined;

  constructor(deps: WatchedMountTableDeps) {
    this.#deps = deps;
    this.#best = new BestReader({ ...deps, onOpened: (reader) => this.#wakeBy(reader) });
  }

  async read(): Promise<MountTable> {
    if (this.#toCompare) this.#attempt((reader) => reader.compare());
    this.#toCompare = false;
    this.#given = this.#readNow();
    return this.#given;
  }

  /** Somebody else was told that options have changed: the next table shows them. */
  compareNext(): void {
    this.#toCompare = true;
    for (const { call } of this.#watchers) call();
  }

  status(): MountTableStatus {
    const { current, overflows, demotions } = this.#best;
    const [resyncs, unannounced] = [this.#resyncs, this.#unannounced];
    return { tier: current?.tier, resyncs, overflows, unannounced, demotions };
  }

  /** What the caller has changed, in options of a mount or of its file system, is in the next table. */
  recheck(id: number, of: "mount" | "filesystem"): void {
    this.#best.current?.recheck(id, of);
  }

  watch(onChange: () => void): Cancel {
    const reader = this.#attempt((opened) => opened);
    const told = throttle(
      this.#deps.system,
      () => (this.#best.current?.tier === "mountinfo" ? spacingMs : 0),
      onChange,
    );
    const watcher = { call: told.call, cancel: this.#deps.wake(reader, told.call) };
    this.#watchers.add(watcher);
    this.#resyncLater();
    return () => {
      watcher.cancel();
      told.cancel();
      this.#watchers.delete(watcher);
      if (this.#watchers.size === 0) this.#stopTimers();
    };
  }

  /** Compares everything, and tells who watches if the table was not as it should be. */
  resync(): void {
    this.#resyncs += 1;
    const found = this.#compare();
    if (found.length === 0) return;
    this.#unannounced += found.length;
    const mounts = listed(found, named);
    this.#deps.system.log.info("mount table changed without a kernel notification", {
      ...this.#about(),
      mounts,
      count: found.length,
    });
  }

  close(): void {
    this.#stopTimers();
    this.#watchers.clear();
    this.#best.close();
  }

  #compare(): readonly string[] {
    const { clock } = this.#deps.system;
    const begun = clock.monotonic();
    this.#readNow(); // what the kernel has told is no difference
    const { found, wrong } = this.#attempt(comparedTwice);
    this.#lastCostMs = clock.monotonic() - begun;
    if (wrong.length > 0 && this.#best.hasNext) {
      this.#best.giveUp(new Error(`it differs from mountinfo: ${listed(wrong, named, true, "; ")}`));
    }
    if (this.#readNow() !== this.#given) for (const { call } of this.#watchers) call();
    return found;
  }

  #readNow(): MountTable {
    const table = this.#attempt((reader) => reader.read());
    const optionChanges = this.#best.current?.optionChanges ?? 0;
    const more = optionChanges > this.#optionChanges;
    this.#optionChanges = optionChanges;
    if (more) this.#deps.onOptions?.();
    return table;
  }

  /** Asks the reader, or one that keeps the table in another way if it fails. */
  #attempt<T>(ask: (reader: MountReader) => T): T {
    for (;;) {
      try {
        const reader = this.#best.get();
        const answer = ask(reader);
        if (reader.suspect) this.#compareSoon();
        return answer;
      } catch (error) {
        if (this.#best.hasNext) {
          this.#best.giveUp(error);
          continue;
        }
        const message = `the mount table cannot be read: ${messageOf(error)}`;
        throw new VolumeError("MountTableUnreadable", "transient", message, { cause: error });
      }
    }
  }

  /** Who watches is woken by what the reader in use is told by. */
  #wakeBy(reader: MountReader): void {
    for (const watcher of this.#watchers) {
      try {
        const cancel = this.#deps.wake(reader, watcher.call);
        watcher.cancel();
        watcher.cancel = cancel;
      } catch (error) {
        const about = { ...this.#about(), error: messageOf(error) };
        this.#deps.system.log.warn("changes of mounts may be noticed late", about); // mountinfo still wakes, too early
      }
    }
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
      this.#quietly(() => this.#best.tryBetter());
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

/**
 * Calls at once, and then again after a while if it was called meanwhile.
 * @param spacing asked at each call: milliseconds until the next one, 0 for none
 */
function throttle(
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
