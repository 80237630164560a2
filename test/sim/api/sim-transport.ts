import type { ApiRequest, ApiResponse, StreamHandlers, Transport } from "../../../src/kube/client/transport.ts";
import { TransportError } from "../../../src/kube/client/transport.ts";
import type { Cancel } from "../../../src/ports.ts";
import type { Incarnation } from "../incarnation.ts";
import type { SeededRandom } from "../random.ts";
import type { Scheduler } from "../scheduler.ts";
import type { Sightings } from "../sightings.ts";
import { statusObject } from "./refusal.ts";
import type { SimApiServer } from "./sim-api-server.ts";

/** An answer that is not the one asked for. */
export interface PlannedAnswer {
  readonly status: 410 | 429 | 500 | 503;
  readonly carriedOut: boolean;
  /** With the header Retry-After. */
  readonly retryAfterSeconds?: number;
}

/**
 * What goes wrong with one request. Lost: it is carried out, its answer never arrives. Hung: it arrives nowhere, and
 * nobody says so. Late: it is carried out, and its answer comes so many milliseconds later than usual.
 */
export type RequestFault = "refused" | "lost" | "hung" | { readonly lateMs: number } | PlannedAnswer;

/** The network between a process and the API server, and what is wrong with it now. */
export interface Network {
  /**
   * For how many reasons no request arrives, and watches are cut: an outage of a story goes on when the weather's ends.
   */
  down: number;
  /** What goes wrong with a request. Asked once for each. */
  fault(request: ApiRequest, random: SeededRandom): RequestFault | undefined;
  /** When all connections of that moment went dead, without anybody being told: what is sent on them gets lost. */
  silencedAt: number;
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
  /** Told of each line of a watch, before the process is. */
  onLine?(path: string, line: object): void;
  /** Told of each read that was answered by the server, whatever with, before the process is. */
  onRead?(path: string): void;
  /** Told of each request, watches too, when it is sent. */
  onRequest?(request: ApiRequest): void;
  /** Told of each write when it is sent. */
  onWrite(request: ApiRequest): void;
}

const travel = { low: 0.5, high: 8 } as const;
const defaultTimeoutMs = 30_000;
const defaultIdleMs = 180_000;

/** One process's connection to the simulated API server. */
export class SimTransport implements Transport {
  readonly #deps: SimTransportDeps;

  constructor(deps: SimTransportDeps) {
    this.#deps = deps;
  }

  request(request: ApiRequest): Promise<ApiResponse> {
    const { incarnation, scheduler, random, network, sightings } = this.#deps;
    const name = `${request.method} ${request.path}`;
    this.#deps.onRequest?.(request);
    if (request.method !== "GET") this.#deps.onWrite(request);
    return new Promise((resolve, reject) => {
      const lost = () => reject(new TransportError(`${name}: no answer`));
      const cancelTimeout = incarnation.system.timers.after(request.timeoutMs ?? defaultTimeoutMs, lost);
      const answer = (response: ApiResponse) =>
        incarnation.later(travel, () => {
          cancelTimeout();
          if (request.method === "GET" && response.status < 500) this.#deps.onRead?.(request.path);
          resolve(response);
        });
      // What was sent arrives, even if the sender dies meanwhile.
      scheduler.after(random.between(travel.low, travel.high), () => {
        const fault = network.down > 0 ? "refused" : network.fault(request, random);
        if (fault !== undefined) sightings.add("fault", faultName(fault));
        if (fault === "refused") {
          cancelTimeout();
          lost();
        } else if (fault === "hung") return;
        else if (isAnswer(fault) && !fault.carriedOut) answer(refusal(fault));
        else this.#carryOut(request, name, fault, answer);
      });
    });
  }

  stream(request: ApiRequest, handlers: StreamHandlers): Cancel {
    const { incarnation, server, network } = this.#deps;
    this.#deps.onRequest?.(request);
    let ended = false;
    let close: Cancel = () => {};
    let clear = 0;
    let heardAt = this.#deps.scheduler.now;
    const openedAt = heardAt;
    let dead = false;
    /** In order, each some time after it was sent. */
    const deliver = (action: () => void) => {
      const { scheduler, random } = this.#deps;
      clear = Math.max(clear, scheduler.now + random.between(travel.low, travel.high));
      scheduler.after(clear - scheduler.now, () => {
        if (ended || dead || !incarnation.alive) return;
        dead = openedAt < network.silencedAt && scheduler.now >= network.silencedAt;
        if (dead) scheduler.after(heardAt + (request.idleMs ?? defaultIdleMs) - scheduler.now, breakOff);
        else {
          heardAt = scheduler.now;
          action();
        }
      });
    };
    /** What the process finds out by itself. */
    const breakOff = () => {
      if (ended || !incarnation.alive) return;
      this.#deps.sightings.add("watch ended", "silent");
      close();
      ended = true;
      handlers.onEnd({ error: new TransportError(`watch ${request.path}: nothing received`) });
    };
    const end: StreamHandlers["onEnd"] = (how) =>
      deliver(() => {
        this.#deps.sightings.add("watch ended", endName(how));
        ended = true;
        handlers.onEnd(how);
      });
    incarnation.later(travel, () => {
      if (ended) return;
      const fault = network.down > 0 ? "refused" : network.fault(request, this.#deps.random);
      if (fault !== undefined) this.#deps.sightings.add("watch fault", faultName(fault));
      if (isAnswer(fault)) return end({ response: refusal(fault) });
      if (fault === "refused" || fault === "lost")
        return end({ error: new TransportError(`watch ${request.path}: connection refused`) });
      dead = fault === "hung";
      if (dead) {
        this.#deps.scheduler.after(request.idleMs ?? defaultIdleMs, breakOff);
        return;
      }
      if (typeof fault === "object") clear = this.#deps.scheduler.now + fault.lateMs;
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
      this.#deps.sightings.add("watch event", (line as { type?: string }).type ?? "none");
      if (endsInitialList(line)) this.#deps.onInitialList?.(path);
      this.#deps.onLine?.(path, line);
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
      else if (isAnswer(fault)) answer(refusal(fault));
      else if (typeof fault === "object") incarnation.later(exactly(fault.lateMs), () => answer(response));
    };
    const run = () => server.handle(request, incarnation.name);
    const looks = request.method === "GET" || request.query?.["dryRun"] !== undefined;
    if (looks || !incarnation.alive) done(run());
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

function isAnswer(fault: RequestFault | undefined): fault is PlannedAnswer {
  return typeof fault === "object" && "status" in fault;
}

function faultName(fault: RequestFault): string {
  if (typeof fault === "string") return fault;
  if (!isAnswer(fault)) return "late";
  const after = fault.retryAfterSeconds === undefined ? "" : ", Retry-After";
  return `${fault.status}${after}${fault.carriedOut ? ", carried out" : ""}`;
}

function exactly(ms: number) {
  return { low: ms, high: ms };
}

function endName({ response, error }: Parameters<StreamHandlers["onEnd"]>[0]): string {
  if (response !== undefined) return String(response.status);
  return error === undefined ? "closed" : "reset";
}

const reasons = {
  410: "Expired",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
} as const;

function refusal({ status, retryAfterSeconds }: PlannedAnswer): ApiResponse {
  const body = statusObject(status, reasons[status], "planned fault");
  return { status, body, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
}
