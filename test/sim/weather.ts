import { TransportError } from "../../src/kube/transport.ts";
import type { SimApiServer } from "./api/sim-api-server.ts";
import type { RequestFault } from "./api/sim-transport.ts";
import type { RandomCrashes } from "./faults.ts";
import { SeededRandom } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";

/** How bad things are in a world, all from one seed: crashes, and a network and an API server that fail. */
export class Weather {
  readonly crashes: RandomCrashes;
  readonly #random: SeededRandom;
  /** Of all requests, how many fail. */
  readonly #failing: number;
  readonly #untilMs: number;
  readonly #scheduler: Scheduler;

  constructor(seed: number, scheduler: Scheduler) {
    const random = new SeededRandom(seed, "weather");
    this.#random = random;
    this.#scheduler = scheduler;
    this.#failing = random.pick([0, 0.02, 0.1]);
    this.#untilMs = random.between(10_000, 120_000);
    this.crashes = {
      random: new SeededRandom(seed, "crashes"),
      probability: random.pick([0.01, 0.03, 0.1]),
      most: random.below(5),
      reboots: random.pick([0, 0, 0.2]),
    };
  }

  /** What goes wrong with one request. */
  fault(): RequestFault | undefined {
    const random = this.#random;
    if (this.#scheduler.now > this.#untilMs || !random.chance(this.#failing)) return undefined;
    const status = random.pick([429, 500, 503] as const);
    // Of these only a failing server can have done what it was asked for.
    return random.pick(["refused", "lost", { status, carriedOut: status === 500 && random.chance(0.5) }] as const);
  }

  /** Breaks the watches now and then. */
  begin(server: SimApiServer): void {
    const random = this.#random;
    this.#scheduler.after(random.between(1_000, 40_000), () => {
      if (this.#scheduler.now > this.#untilMs) return;
      const how = random.below(3);
      if (how === 0) server.breakWatches({});
      else if (how === 1) server.breakWatches({ error: new TransportError("connection reset") });
      else server.compact();
      this.begin(server);
    });
  }
}
