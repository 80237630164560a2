import * as http from "node:http";
import { messageOf } from "../errors.ts";
import type { System } from "../ports.ts";
import { type Call, decide, decideBody, type Refusal } from "./decide.ts";
import type { InFlight, ProxyMetrics } from "./metrics.ts";
import type { Own } from "./own.ts";
import { LogOnce, refuse } from "./refusals.ts";
import type { Upstream } from "./upstream.ts";

/** Dependencies of forwarding requests of one node's agent. */
export interface ProxyDeps {
  readonly system: Pick<System, "timers" | "log">;
  readonly own: Own;
  readonly upstream: Upstream;
  readonly metrics: Pick<ProxyMetrics, "passed" | "refused">;
}

/** At once: an agent asks for some ten things at a time, and watches one object for each content of a volume. */
const most: InFlight = { requests: 64, watches: 1_024 };
/** Milliseconds until an answer begins: the API server itself gives up after a minute. */
const answerMs = 70_000;
/** Milliseconds until it has ended; a watch is asked to end within ten minutes. */
const longestMs = 11 * 60_000;
/**
 * Of the agent's side. Connections that are kept stay: whoever closes one first could lose a request that is on its
 * way.
 */
const limits = {
  headersTimeout: 5_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 1_000,
  keepAliveTimeout: 0,
  maxHeaderSize: 16 * 1024,
};
/** What is passed on of an answer's head. */
const answered = ["content-type", "content-length", "retry-after"];

/**
 * The agent's way to the API server: what is in the closed set of rules is asked for it, with the token that it does
 * not have.
 *
 *   agent ──► head ──► decide (pure) ──► body ──► decideBody (pure) ──► written anew, with the token ──► API server
 *               │                          └──────► 403                                                    │
 *   agent ◄─────┴─ 403                                             agent ◄── as it comes, watches too ─────┘
 */
export class ApiProxy {
  readonly server: http.Server;
  readonly #deps: ProxyDeps;
  readonly #told: LogOnce;
  readonly #inFlight = { requests: 0, watches: 0 };

  constructor(deps: ProxyDeps) {
    this.#deps = deps;
    this.#told = new LogOnce(deps.system.log);
    const answer: http.RequestListener = (request, response) => {
      this.#answer(request, response).catch((error: unknown) => {
        deps.system.log.error("a request failed", { error: messageOf(error) });
        response.destroy();
      });
    };
    this.server = http.createServer(limits, answer);
    this.server.on("checkContinue", answer); // refused by its header, and not first asked to go on
    this.server.maxConnections = most.requests + most.watches + 64;
  }

  get inFlight(): InFlight {
    return { ...this.#inFlight };
  }

  async #answer(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const { own, metrics } = this.#deps;
    const { method = "", url: target = "", rawHeaders: headers } = request;
    const no = ({ kind, message }: Refusal) => {
      metrics.refused(kind);
      this.#told.refused(method, target, message);
      refuse(response, 403, message);
    };
    const call = decide({ method, target, headers }, own);
    if ("kind" in call) return no(call);
    const release = this.#take(call);
    if (release === undefined) {
      metrics.refused("busy");
      return refuse(response, 429, "too many requests at once");
    }
    response.once("close", release);
    let body: string | undefined;
    if (call.rule.body !== undefined) {
      const text = await textOf(request, call.length);
      if (text === undefined) return; // the agent has gone
      const decided = decideBody(call, text, own);
      if ("kind" in decided) return no(decided);
      ({ body } = decided);
    }
    await this.#pass(call, body, response);
  }

  /** @returns how its place is given back; undefined if there is none */
  #take({ verb }: Call): (() => void) | undefined {
    const kind = verb === "watch" ? "watches" : "requests";
    if (this.#inFlight[kind] >= most[kind]) return undefined;
    this.#inFlight[kind] += 1;
    return () => {
      this.#inFlight[kind] -= 1;
    };
  }

  async #pass(call: Call, body: string | undefined, response: http.ServerResponse): Promise<void> {
    const { upstream, metrics, system } = this.#deps;
    const { rule, verb } = call;
    const failed = (code: 502 | 503, error: unknown) => {
      metrics.passed(rule.name, verb, undefined);
      refuse(
        response,
        code,
        `${code === 503 ? "nothing was asked" : "the API server did not answer"}: ${messageOf(error)}`,
      );
    };
    let sent: http.ClientRequest;
    try {
      sent = await upstream.send(call, body);
    } catch (error) {
      return failed(503, error);
    }
    if (response.destroyed) return void sent.on("error", () => {}).destroy(); // the agent has gone
    const cancelAnswer = system.timers.after(answerMs, () =>
      sent.destroy(new Error(`no answer within ${answerMs} ms`)),
    );
    const cancelEnd = system.timers.after(longestMs, () => response.destroy());
    response.once("close", () => {
      cancelAnswer();
      cancelEnd();
      sent.destroy();
    });
    let begun = false;
    sent.on("error", (error) => {
      cancelAnswer();
      if (!begun && !response.destroyed) failed(502, error);
    });
    sent.on("response", (head) => {
      begun = true;
      cancelAnswer();
      metrics.passed(rule.name, verb, head.statusCode);
      response.writeHead(head.statusCode ?? 502, headersOf(head));
      if (verb === "watch") response.flushHeaders(); // of others they go in one write with what follows
      // If the server's side breaks, the agent's does: it must not take half an answer for a whole one.
      head.on("error", () => response.destroy()).pipe(response);
    });
  }
}

function headersOf({ headers }: http.IncomingMessage): http.OutgoingHttpHeaders {
  return Object.fromEntries(answered.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])));
}

/** @returns undefined if it breaks off */
async function textOf(request: http.IncomingMessage, length: number): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  } catch {
    return undefined;
  }
  const bytes = Buffer.concat(chunks);
  return bytes.length === length ? bytes.toString("utf8") : undefined;
}
