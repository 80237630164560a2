import { until } from "../../../hack/lib/until.ts";
import type { WakeupListener, WatchUnavailable } from "../../../src/host/ports/wakeups.ts";
import type { Cancel } from "../../../src/ports.ts";

/** What a wake source has told of since it was asked. */
export class Heard implements Disposable {
  wakes = 0;
  unavailable: WatchUnavailable | undefined;
  readonly #cancel: Cancel;

  constructor(listen: (listener: WakeupListener) => Cancel) {
    this.#cancel = listen({
      woken: () => {
        this.wakes++;
      },
      unavailable: (why) => {
        this.unavailable = why;
      },
    });
  }

  /** Waits for the next wake after those that were there. @throws Error if none comes in time */
  async after(what: string, change: () => unknown, ms = 10_000): Promise<void> {
    const before = this.wakes;
    await change();
    await until(`a wake after ${what}`, ms, () => this.wakes > before);
  }

  [Symbol.dispose](): void {
    this.#cancel();
  }
}
