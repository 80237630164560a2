import { Counter, Gauge, type Registry } from "prom-client";
import type { WatchUnavailable } from "../../host/ports/wakeups.ts";

/** Metrics of what ends a wait before its time. */
export class WakeMetrics {
  readonly #wakes: Counter<"by">;
  readonly #unwatched: Gauge<"why">;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#wakes = new Counter({
      name: "nodevolume_agent_wakes_total",
      help: "Waits that an event ended before their delay, by the source of the event.",
      labelNames: ["by"],
      registers,
    });
    this.#unwatched = new Gauge({
      name: "nodevolume_agent_unheard",
      help: "Objects that volumes wait for and that cannot be watched: these waits end by periodic retries alone.",
      labelNames: ["why"],
      registers,
    });
  }

  woken(by: string): void {
    this.#wakes.inc({ by });
  }

  unwatched(sources: ReadonlyMap<WatchUnavailable, number>): void {
    this.#unwatched.reset();
    for (const [why, count] of sources) this.#unwatched.set({ why }, count);
  }
}
