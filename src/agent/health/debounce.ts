import type { Cancel, System } from "../../ports.ts";

/** Calls `action` once when nothing was noted for `quietMs` milliseconds after something was. */
export class Debounce {
  readonly #deps: Pick<System, "clock" | "timers">;
  readonly #quietMs: number;
  readonly #action: () => void;
  #notedAt = 0;
  #cancel: Cancel | undefined;

  constructor(deps: Pick<System, "clock" | "timers">, quietMs: number, action: () => void) {
    this.#deps = deps;
    this.#quietMs = quietMs;
    this.#action = action;
  }

  /** Something was done. */
  note(): void {
    this.#notedAt = this.#deps.clock.monotonic();
    this.#cancel ??= this.#deps.timers.after(this.#quietMs, () => this.#look());
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #look(): void {
    const left = this.#notedAt + this.#quietMs - this.#deps.clock.monotonic();
    this.#cancel = left > 0 ? this.#deps.timers.after(left, () => this.#look()) : undefined;
    if (left <= 0) this.#action();
  }
}
