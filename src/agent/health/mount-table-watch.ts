import { messageOf } from "../../errors.ts";
import type { MountTableSource } from "../../host/ports/host-ports.ts";
import type { Cancel, System } from "../../ports.ts";

/** Milliseconds after which a table that cannot be watched is looked at, and is tried to be watched again. */
const againMs = 10_000;

type WatchedTable = Pick<MountTableSource, "watch">;

/** The kernel tables that are watched, and whom their changes wake. */
export interface TableWatchesDeps {
  readonly system: Pick<System, "timers" | "log">;
  /** By the name that people know them by. */
  readonly tables: Readonly<Record<string, WatchedTable | undefined>>;
  /** Told after each change of a table, and now and then while changes are not told of. */
  onChange(): void;
}

/**
 * Watches the mount tables, and that of swap. One that cannot be watched, as where no more files may be opened, ends
 * nothing: it is looked at every ten seconds until it can.
 */
export class TableWatches {
  readonly #deps: TableWatchesDeps;
  readonly #watched = new Map<string, Cancel>();
  /** Those that could not be watched, and when they are tried again. */
  readonly #waiting = new Map<string, Cancel>();

  constructor(deps: TableWatchesDeps) {
    this.#deps = deps;
  }

  start(): void {
    for (const [name, table] of Object.entries(this.#deps.tables)) if (table !== undefined) this.#watch(name, table);
  }

  stop(): void {
    for (const cancel of [...this.#watched.values(), ...this.#waiting.values()]) cancel();
    this.#watched.clear();
    this.#waiting.clear();
  }

  /** Tables whose changes are told of late. */
  unwatched(): readonly string[] {
    return [...this.#waiting.keys()];
  }

  #watch(name: string, table: WatchedTable): void {
    const { system, onChange } = this.#deps;
    const again = this.#waiting.has(name);
    try {
      this.#watched.set(name, table.watch(onChange));
      this.#waiting.delete(name);
      if (again) system.log.info("changes of mounts are reported again", { table: name });
    } catch (error) {
      const meta = { table: name, error: messageOf(error) };
      if (!again) system.log.warn("changes of mounts are noticed late: the mount table cannot be watched", meta);
      this.#waiting.set(
        name,
        system.timers.after(againMs, () => this.#watch(name, table)),
      );
    }
    if (again) onChange(); // what happened meanwhile was not told of
  }
}
