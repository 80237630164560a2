import { VolumeError } from "../../../errors.ts";
import type { Cancel, Timers } from "../../../ports.ts";
import type { MountTableSource } from "../../ports/host-ports.ts";
import type { WatchUnavailable } from "../../ports/wakeups.ts";
import { errnoOf } from "../syscall/errno.ts";
import { watchErrorReason } from "../syscall/inotify-calls.ts";

/** Milliseconds after a change of the mount table after which it is told of: mounts come by the hundred. */
const tableMs = 100;

/** Dependencies of watching a mount table. */
export interface TableChangesDeps {
  readonly timers: Timers;
  readonly mountTable: MountTableSource;
  onChange(): void;
}

/** Tells of changes of the mount table, once for all that come within a moment. */
export class TableChanges {
  readonly #deps: TableChangesDeps;
  #unwatch: Cancel = () => {};
  #timer: Cancel | undefined;
  #unavailable: WatchUnavailable | undefined;

  constructor(deps: TableChangesDeps) {
    this.#deps = deps;
  }

  /** Why changes are not heard, though they should be. */
  get unavailable(): WatchUnavailable | undefined {
    return this.#unavailable;
  }

  /** Begins to listen, or is unavailable. */
  listen(): void {
    try {
      this.#unwatch = this.#deps.mountTable.watch(() => this.#changed());
      this.#unavailable = undefined;
    } catch (error) {
      const code = errnoOf(error);
      if (code === undefined && !(error instanceof VolumeError)) throw error;
      // a table that cannot be read may be later
      this.#unavailable = code === undefined ? "limit" : watchErrorReason(code);
    }
  }

  close(): void {
    this.#unwatch();
    this.#unwatch = () => {};
    this.#timer?.();
    this.#timer = undefined;
    this.#unavailable = undefined;
  }

  #changed(): void {
    this.#timer ??= this.#deps.timers.after(tableMs, () => {
      this.#timer = undefined;
      this.#deps.onChange();
    });
  }
}
