import { Registry } from "prom-client";
import { type Controller, startController } from "../../src/controller/start.ts";
import { SimTransport } from "./api/sim-transport.ts";
import { Incarnation } from "./incarnation.ts";
import { layout } from "./machine.ts";
import type { WorldParts } from "./world-parts.ts";

const restart = { low: 200, high: 3000 } as const;

/** One candidate of the controller, through all its runs. It runs on no machine of the world. */
export class ControllerProcess {
  readonly name: string;
  readonly #parts: WorldParts;
  #running: { readonly incarnation: Incarnation; readonly controller: Controller } | undefined;
  #runs = 0;

  constructor(name: string, parts: WorldParts) {
    this.name = name;
    this.#parts = parts;
  }

  start(): void {
    const { scheduler, random, faults, trace, server, network } = this.#parts;
    const { secrets } = this.#parts.invariants;
    const incarnation = new Incarnation({
      name: `${this.name}#${++this.#runs}`,
      scheduler,
      random,
      faults,
      trace,
      sightings: this.#parts.sightings,
      skewMs: () => this.#parts.skewMs(this.name),
      onLog: (line) => secrets.check("a log line", line),
      onCrash: () => this.#ended(),
    });
    const transport = new SimTransport({
      server,
      network,
      incarnation,
      scheduler,
      random,
      sightings: this.#parts.sightings,
      onWrite: (request) => secrets.check(request.path, () => JSON.stringify(request.body ?? null)),
    });
    const indexIntents = this.#parts.intents === "Index";
    const config = { identity: incarnation.name, allowedPrefixes: [layout.prefix], indexIntents };
    const controller = startController({ system: incarnation.system, transport, config, registry: new Registry() });
    this.#running = { incarnation, controller };
  }

  /** SIGKILL; it is started again. */
  kill(): void {
    if (this.#running === undefined) return;
    this.#parts.trace.add(this.#running.incarnation.name, "killed");
    this.#running.incarnation.end();
    this.#ended();
  }

  /** SIGTERM, as an upgrade does it; it is started again. */
  upgrade(): void {
    const running = this.#running;
    this.#parts.trace.add(this.name, "is upgraded");
    void running?.controller.stop().then(() => {
      if (this.#running === running) this.kill();
    });
  }

  #ended(): void {
    this.#running = undefined;
    const { scheduler, random } = this.#parts;
    scheduler.after(random.between(restart.low, restart.high), () => this.start());
  }
}
