import type { CSIDrivers, RegisteredDriver } from "../../csi/ports.ts";
import { FollowedSockets } from "../../csi/registry/followed-sockets.ts";
import { registrationSocket } from "../../csi/server/socket-paths.ts";
import { messageOf } from "../../errors.ts";
import type { SocketFile, Sockets } from "../../host/ports/sockets.ts";
import type { Cancel, System } from "../../ports.ts";

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
  readonly #followed: FollowedSockets;
  #loaded: LoadedDrivers | undefined;
  #loading = false;
  #stopped = false;
  #told = "";

  constructor(deps: LateDriversDeps) {
    this.#deps = deps;
    this.#followed = new FollowedSockets({ ...deps, log: deps.system.log, onSeen: (seen) => this.#seen(seen) });
    this.#followed.look();
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
    this.#followed.stop();
    this.#loaded?.stop();
    this.#listeners.clear();
  }

  /** Loads once a socket is there that is not our own. What fails is tried again at the next look. */
  #seen(sockets: readonly SocketFile[]): void {
    const own = registrationSocket(this.#deps.directory);
    if (this.#loading || sockets.every(({ path }) => path === own)) return;
    this.#loading = true;
    void this.#load()
      .catch((error: unknown) => this.#tell(messageOf(error)))
      .then(() => {
        this.#loading = false;
      });
  }

  async #load(): Promise<void> {
    const loaded = await this.#deps.load();
    this.#followed.stop();
    if (this.#stopped) return loaded.stop();
    this.#loaded = loaded;
    loaded.drivers.subscribe((name) => {
      for (const listener of [...this.#listeners]) listener(name);
    });
    // One may have come before anybody could be told.
    for (const name of loaded.drivers.names()) for (const listener of [...this.#listeners]) listener(name);
  }

  #tell(why: string): void {
    if (this.#told === why) return;
    this.#told = why;
    this.#deps.system.log.warn("the client of CSI drivers was not started", {
      directory: this.#deps.directory,
      error: why,
    });
  }
}
