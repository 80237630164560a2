import type { CSIDrivers, RegisteredDriver } from "../../csi/ports.ts";
import { registrationSocket } from "../../csi/server/socket-paths.ts";
import { messageOf } from "../../errors.ts";
import type { Sockets, WatchedSockets } from "../../host/ports/sockets.ts";
import type { Cancel, System } from "../../ports.ts";

/** Milliseconds between looks of which nobody has told; half as many again at most. */
const lookMs = 20_000;

/** Dependencies of starting the CSI client at the first registration: a node without drivers never loads gRPC. */
export interface LateDriversDeps {
  readonly system: System;
  readonly sockets: Pick<Sockets, "watch">;
  /** Where drivers register. */
  readonly directory: string;
  /** Brings what talks to drivers, which takes memory. Called once. */
  load(): Promise<LoadedDrivers>;
}

/** The CSI client once it is loaded. */
export interface LoadedDrivers {
  readonly drivers: CSIDrivers;
  stop(): void;
}

/** The CSI drivers of a node, which may have none: nothing is loaded before one wants to register. */
export class LateDrivers implements CSIDrivers {
  readonly #deps: LateDriversDeps;
  readonly #listeners = new Set<(name: string) => void>();
  readonly #tree: WatchedSockets;
  #loaded: LoadedDrivers | undefined;
  #looking: Promise<void> | undefined;
  #again: Cancel = () => {};
  #stopped = false;
  #told = "";

  constructor(deps: LateDriversDeps) {
    this.#deps = deps;
    this.#tree = deps.sockets.watch(deps.directory, () => this.#look());
    this.#look();
  }

  driver(name: string): RegisteredDriver | undefined {
    return this.#loaded?.drivers.driver(name);
  }

  names(): readonly string[] {
    return this.#loaded?.drivers.names() ?? [];
  }

  subscribe(onChange: (name: string) => void): Cancel {
    this.#listeners.add(onChange);
    return () => this.#listeners.delete(onChange);
  }

  stop(): void {
    this.#stopped = true;
    this.#again();
    this.#tree.close();
    this.#loaded?.stop();
    this.#listeners.clear();
  }

  #look(): void {
    this.#looking ??= this.#loadIfNeeded()
      .catch((error: unknown) => this.#tell(messageOf(error)))
      .then(() => {
        this.#looking = undefined;
        if (this.#stopped || this.#loaded !== undefined) return;
        const { random, timers } = this.#deps.system;
        this.#again();
        this.#again = timers.after(lookMs * (1 + random.next() / 2), () => this.#look());
      });
  }

  async #loadIfNeeded(): Promise<void> {
    if (this.#loaded !== undefined) return;
    const own = registrationSocket(this.#deps.directory);
    const others = (await this.#tree.read()).filter(({ path }) => path !== own);
    if (others.length === 0 || this.#stopped) return;
    const loaded = await this.#deps.load();
    if (this.#stopped) return loaded.stop();
    this.#loaded = loaded;
    this.#tree.close();
    loaded.drivers.subscribe((name) => {
      for (const listener of [...this.#listeners]) listener(name);
    });
    // One may have come before anybody could be told.
    for (const name of loaded.drivers.names()) for (const listener of [...this.#listeners]) listener(name);
  }

  #tell(why: string): void {
    if (this.#told === why) return;
    this.#told = why;
    this.#deps.system.log.warn("CSI drivers cannot be looked for", { directory: this.#deps.directory, error: why });
  }
}
