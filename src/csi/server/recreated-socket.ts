import type { Server } from "@grpc/grpc-js";
import { listen, socketAt } from "./listen.ts";

/** A server on a unix socket that is made again when somebody has taken its file away. */
export class RecreatedSocket {
  readonly path: string;
  readonly #make: () => Server;
  #server: Server | undefined;
  #identity: string | undefined;

  constructor(path: string, make: () => Server) {
    this.path = path;
    this.#make = make;
  }

  /** Listens, unless it does already. @throws Error if it cannot */
  async keep(): Promise<void> {
    if (this.#server !== undefined && this.#identity === socketAt(this.path)) return;
    const server = this.#make();
    try {
      this.#identity = await listen(server, this.path);
    } catch (error) {
      server.forceShutdown();
      throw error;
    }
    this.#server?.tryShutdown(() => {}); // calls that are under way end as they would
    this.#server = server;
  }

  /** Takes no more calls. Resolves when all that were taken have their answers. The file stays. */
  answered(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#server === undefined) resolve();
      else this.#server.tryShutdown(() => resolve());
    });
  }

  /** At once: calls are cut off. The file stays. */
  stop(): void {
    this.#server?.forceShutdown();
    this.#server = undefined;
  }
}
