import { existsSync } from "node:fs";
import type { Cancel, System } from "../../ports.ts";

/** Milliseconds between looks for the directory; half as many again at most. */
const lookMs = 20_000;

/** Dependencies of starting the CSI server, once kubelet's registration directory exists. */
export interface LatePodDriverDeps {
  readonly system: System;
  /** kubelet's plugins_registry. */
  readonly directory: string;
  /** Brings the server and the gRPC library, which take memory, and starts it. Called once. */
  load(): Promise<LoadedPodDriver>;
}

/** What is needed of a PodDriver here. */
export interface LoadedPodDriver {
  stop(): void;
  end(): Promise<void>;
}

/** The driver for pods on a node that may have no kubelet: it is loaded once there is a directory to register in. */
export class LatePodDriver {
  readonly #deps: LatePodDriverDeps;
  #driver: LoadedPodDriver | undefined;
  #again: Cancel = () => {};
  #stopped = false;

  constructor(deps: LatePodDriverDeps) {
    this.#deps = deps;
    this.#look();
  }

  /** Resolves when it answers no more. */
  async end(): Promise<void> {
    this.#stopped = true;
    this.#again();
    await this.#driver?.end();
  }

  #look(): void {
    const { system, directory } = this.#deps;
    if (existsSync(directory)) {
      void this.#load();
      return;
    }
    this.#again = system.timers.after(lookMs * (1 + system.random.next() / 2), () => this.#look());
  }

  async #load(): Promise<void> {
    const driver = await this.#deps.load();
    if (this.#stopped) driver.stop();
    else this.#driver = driver;
  }
}
