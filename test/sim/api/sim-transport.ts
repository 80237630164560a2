import type { ApiRequest, ApiResponse, StreamHandlers, Transport } from "../../../src/kube/transport.ts";
import { TransportError } from "../../../src/kube/transport.ts";
import type { Cancel } from "../../../src/ports.ts";
import type { Incarnation } from "../incarnation.ts";
import type { SeededRandom } from "../random.ts";
import type { Scheduler } from "../scheduler.ts";
import type { Sightings } from "../sightings.ts";
import { statusObject } from "./refusal.ts";
import type { SimApiServer } from "./sim-api-server.ts";

/** What goes wrong with one request. Lost: it is carried out, its answer never arrives. */
export type RequestFault = "refused" | "lost" | { readonly status: 429 | 500 | 503; readonly carriedOut: boolean };

/** The network between a process and the API server, and what is wrong with it now. */
export interface Network {
  /** No request arrives, and watches are cut. */
  down: boolean;
  /** What goes wrong with a request. Asked once for each. */
  fault(request: ApiRequest, random: SeededRandom): RequestFault | undefined;
  /** How far behind the replica is that serves new watches, in milliseconds. */
  lagMs: number;
}

export interface SimTransportDeps {
  readonly server: SimApiServer;
  readonly network: Network;
  readonly incarnation: Incarnation;
  readonly scheduler: Scheduler;
  readonly random: SeededRandom;
  readonly sightings: Sightings;
  /** Told when a process has got all objects of a path that it watches from the beginning. */
  onInitialList?(path: string): void;
  /** Told of each write when it is sent. */
  onWrite(request: ApiRequest): void;
}

const travel = { low: 0.5, high: 8 } as const;
const defaultTimeoutMs = 30_000;

/** One process's connection to the simulated API server. */
export class SimTransport implements Transport {
  readonly #deps: SimTransportDeps;

  constructor(deps: SimTransportDeps) {
    this.#deps = deps;
  }

  request(request: ApiRequest): Promise<ApiResponse> {
    const { incarnation, scheduler, random, network, sightings } = this.#deps;
    const name = `${request.method} ${request.path}`;
    if (request.method !== "GET") this.#deps.onWrite(request);
    return new Promise((resolve, reject) => {
      const lost = () => reject(new TransportError(`${name}: no answer`));
      const cancelTimeout = incarnation.system.timers.after(request.timeoutMs ?? defaultTimeoutMs, lost);
      const answer = (response: ApiResponse) =>
        incarnation.later(travel, () => {
          cancelTimeout();
          resolve(response);
        });
      // What was sent arrives, even if the sender dies meanwhile.
      scheduler.after(random.between(travel.low, travel.high), () => {
        const fault = network.down ? "refused" : network.fault(request, random);
        if (fault !== undefined) sightings.add("fault", faultName(fault));
        if (fault === "refused") {
          cancelTimeout();
          lost();
        } else if (typeof fault === "object" && !fault.carriedOut) answer(refusal(fault.status));
        else this.#carryOut(request, name, fault, answer);
      });
    });
  }

  stream(request: ApiRequest, handlers: StreamHandlers): Cancel {
    const { incarnation, server, network } = this.#deps;
    let ended = false;
    let close: Cancel = () => {};
    let clear = 0;
    /** In order, each some time after it was sent. */
    const deliver = (action: () => void) => {
      const { scheduler, random } = this.#deps;
      clear = Math.max(clear, scheduler.now + random.between(travel.low, travel.high));
      scheduler.after(clear - scheduler.now, () => {
        if (!ended && incarnation.alive) action();
      });
    };
    const end: StreamHandlers["onEnd"] = (how) =>
      deliver(() => {
        this.#deps.sightings.add("watch ended", endName(how));
        ended = true;
        handlers.onEnd(how);
      });
    incarnation.later(travel, () => {
      if (ended) return;
      const fault = network.down ? "refused" : network.fault(request, this.#deps.random);
      if (fault !== undefined) this.#deps.sightings.add("watch fault", faultName(fault));
      if (typeof fault === "object") return end({ response: refusal(fault.status) });
      if (fault !== undefined) return end({ error: new TransportError(`watch ${request.path}: connection refused`) });
      close = server.watch(
        request,
        {
          opened: () => deliver(() => handlers.onOpen?.()),
          lines: (lines) => deliver(() => this.#hand(request.path, lines, handlers, () => ended)),
          end,
        },
        network.lagMs,
      );
    });
    const cancel = () => {
      ended = true;
      close();
    };
    incarnation.atEnd(cancel);
    return cancel;
  }

  #hand(path: string, lines: readonly object[], handlers: StreamHandlers, ended: () => boolean): void {
    for (const line of lines) {
      if (ended()) return;
      if (endsInitialList(line)) this.#deps.onInitialList?.(path);
      handlers.onObject(line);
    }
  }

  #carryOut(
    request: ApiRequest,
    name: string,
    fault: RequestFault | undefined,
    answer: (response: ApiResponse) => void,
  ): void {
    const { incarnation, server, sightings } = this.#deps;
    const done = (response: ApiResponse) => {
      if (response.status >= 400) sightings.add("answer", String(response.status));
      if (fault === undefined) answer(response);
      else if (typeof fault === "object") answer(refusal(fault.status));
    };
    const run = () => server.handle(request, incarnation.name);
    if (request.method === "GET" || !incarnation.alive) done(run());
    else {
      incarnation.perform(`api ${name}`, run, {
        resolve: done,
        reject: (error) => {
          throw error;
        },
      });
    }
  }
}

function endsInitialList(line: object): boolean {
  const { type, object } = line as { type?: string; object?: { metadata?: { annotations?: object } } };
  return type === "BOOKMARK" && object?.metadata?.annotations !== undefined;
}

function faultName(fault: RequestFault): string {
  if (typeof fault === "string") return fault;
  return `${fault.status}${fault.carriedOut ? ", carried out" : ""}`;
}

function endName({ response, error }: Parameters<StreamHandlers["onEnd"]>[0]): string {
  if (response !== undefined) return String(response.status);
  return error === undefined ? "closed" : "reset";
}

function refusal(status: 429 | 500 | 503): ApiResponse {
  const reason = status === 429 ? "TooManyRequests" : status === 500 ? "InternalError" : "ServiceUnavailable";
  return { status, body: statusObject(status, reason, "planned fault") };
}
