import type { Socket } from "node:net";
import { type ChannelCredentials, credentials } from "@grpc/grpc-js";

/**
 * The sockets of one channel. The library (1.14.7) forgets one whose other side accepts and says nothing: it would stay
 * open after the channel is closed, one for each attempt at a driver that hangs.
 */
export class ChannelSockets {
  #connections = 0;
  readonly #open = new Set<Socket>();
  /** For the channel. Access to a unix socket is the file's to grant; nothing on it is encrypted. */
  readonly credentials: ChannelCredentials;

  constructor() {
    this.credentials = credentials.createInsecure();
    const create = this.credentials._createSecureConnector.bind(this.credentials);
    this.credentials._createSecureConnector = (...args) => {
      const connector = create(...args);
      return {
        connect: (socket) => {
          this.#add(socket);
          return connector.connect(socket);
        },
        waitForReady: () => connector.waitForReady(),
        getCallCredentials: () => connector.getCallCredentials(),
        destroy: () => connector.destroy(),
      };
    };
  }

  /** Connections that have begun so far. */
  get connections(): number {
    return this.#connections;
  }

  destroyAll(): void {
    for (const socket of this.#open) socket.destroy();
  }

  #add(socket: Socket): void {
    this.#connections += 1;
    this.#open.add(socket);
    socket.once("close", () => this.#open.delete(socket));
  }
}
