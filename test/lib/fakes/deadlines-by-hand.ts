import type { Cancel, Timers } from "../../../src/ports.ts";
import { systemTimers } from "../../../src/system.ts";

/**
 * Node's timers, but for those of one length, the deadline of children: they run out when the test says so. So a child
 * that hangs has come as far as it is to come, and no child that is only slow is ended.
 */
export class DeadlinesByHand implements Timers {
  /** Milliseconds, which nothing else takes. */
  readonly ms = 77_777;
  readonly #pending = new Set<() => void>();

  after(ms: number, action: () => void): Cancel {
    if (ms !== this.ms) return systemTimers.after(ms, action);
    this.#pending.add(action);
    return () => this.#pending.delete(action);
  }

  /** Of each child that has not ended. @throws Error if there is none */
  runOut(): void {
    if (this.#pending.size === 0) throw new Error("no child has a deadline");
    for (const end of [...this.#pending]) end();
  }
}
