import {
  Client,
  connectivityState,
  logVerbosity,
  Metadata,
  type ServiceError,
  setLogger,
  setLogVerbosity,
} from "@grpc/grpc-js";
import type { Cancel, Clock } from "../../ports.ts";
import type { Answer, Connection, Dialer } from "./connection.ts";
import { ChannelSockets } from "./grpc-credentials.ts";
import { codeOf } from "./rpc.ts";

/** Bytes of the longest answer that is taken; the gRPC libraries' own limit. */
export const longestReply = 4 * 1024 * 1024;

/** Milliseconds between attempts to connect, doubled from the first to the longest. */
const reconnect = { first: 100, longest: 2_000 };

const options = {
  "grpc.max_receive_message_length": longestReply,
  "grpc.initial_reconnect_backoff_ms": reconnect.first,
  "grpc.max_reconnect_backoff_ms": reconnect.longest,
  // Each channel its own connection: a driver that was replaced on the same path is another one.
  "grpc.use_local_subchannel_pool": 1,
  // What was tried again is the planner's to know.
  "grpc.enable_retries": 0,
  "grpc.enable_http_proxy": 0,
  "grpc.service_config_disable_resolution": 1,
  "grpc.enable_channelz": 0,
};

/** Real connections. */
export function grpcDialer(clock: Clock): Dialer {
  quiet();
  return { dial: (path) => new GRPCConnection(path, clock) };
}

class GRPCConnection implements Connection {
  readonly #sockets = new ChannelSockets();
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #returns = new Set<() => void>();
  #underWay = 0;
  #closed = false;
  #looking = false;

  constructor(path: string, clock: Clock) {
    if (!path.startsWith("/")) throw new Error(`not the absolute path of a unix socket: ${path}`);
    this.#clock = clock;
    this.#client = new Client(`unix:${path}`, this.#sockets.credentials, options);
  }

  get generation(): number {
    return this.#sockets.connections;
  }

  async ready(withinMs: number): Promise<boolean> {
    const deadline = this.#clock.now() + withinMs;
    for (let state = this.#state(); state !== connectivityState.READY; state = this.#state()) {
      const failed = state === connectivityState.TRANSIENT_FAILURE || state === connectivityState.SHUTDOWN;
      if (failed || !(await this.#changed(state, deadline))) return false;
    }
    return true;
  }

  call(method: string, request: Uint8Array, deadlineMs: number): Promise<Answer> {
    if (this.#closed) return Promise.resolve({ kind: "unsent" });
    this.#underWay += 1;
    return new Promise<Answer>((resolve) => {
      this.#client.makeUnaryRequest(
        method,
        (bytes: Uint8Array) => Buffer.from(bytes),
        (bytes: Buffer) => bytes,
        request,
        new Metadata(),
        { deadline: this.#clock.now() + deadlineMs },
        (error, bytes) =>
          resolve(error === null ? { kind: "reply", bytes: bytes ?? new Uint8Array() } : statusOf(error)),
      );
    }).finally(() => {
      this.#underWay -= 1;
      this.#destroyIfOver();
    });
  }

  onReturn(listener: () => void): Cancel {
    this.#returns.add(listener);
    if (!this.#looking) void this.#look();
    return () => this.#returns.delete(listener);
  }

  close(): void {
    this.#closed = true;
    this.#returns.clear();
    this.#client.close();
    this.#destroyIfOver();
  }

  #destroyIfOver(): void {
    if (this.#closed && this.#underWay === 0) this.#sockets.destroyAll();
  }

  /** Begins to connect, if nobody has. */
  #state(): connectivityState {
    return this.#closed ? connectivityState.SHUTDOWN : this.#client.getChannel().getConnectivityState(true);
  }

  /** @returns false if it was still `state` at the deadline */
  #changed(state: connectivityState, deadline: number): Promise<boolean> {
    return new Promise((resolve) => {
      this.#client.getChannel().watchConnectivityState(state, deadline, (error) => resolve(error === undefined));
    });
  }

  async #look(): Promise<void> {
    this.#looking = true;
    for (let state = this.#state(); this.#returns.size > 0; state = this.#state()) {
      if (state === connectivityState.SHUTDOWN) break;
      if (state !== connectivityState.READY) await this.#changed(state, Number.POSITIVE_INFINITY);
      else {
        const told = [...this.#returns];
        this.#returns.clear();
        for (const listener of told) listener();
      }
    }
    this.#looking = false;
  }
}

/**
 * A status that came over the wire has at least a content-type header. One that the library made up after a broken
 * connection has none. A driver that sends headers first and a bare status later cannot be distinguished from that.
 */
function statusOf({ code, details, metadata }: ServiceError): Answer {
  const spoken = Object.keys(metadata.getMap()).length > 0;
  return { kind: "status", code: codeOf(code), text: details, spoken };
}

/**
 * The library's own log would have what drivers answer, word for word, secrets included, if somebody sets GRPC_TRACE.
 * Whether it writes is decided for the whole process.
 */
export function quiet(): void {
  const nothing = () => {};
  setLogVerbosity(logVerbosity.NONE);
  setLogger({ error: nothing, info: nothing, debug: nothing });
}
