import { Counter, Gauge, type Registry } from "prom-client";

/** Why a request of the agent's side was not passed on. */
export type RefusedBy = "form" | "rule" | "body" | "busy";

/** Requests that the proxy is forwarding now. */
export interface InFlight {
  readonly requests: number;
  readonly watches: number;
}

/** The proxy's own figures. Their names are no other program's, so that they can stand beside the agent's. */
export class ProxyMetrics {
  readonly #requests: Counter<"rule" | "verb" | "code">;
  readonly #refused: Counter<"kind">;

  constructor(registry: Registry, inFlight: () => InFlight) {
    const registers = [registry];
    this.#requests = new Counter({
      name: "nodevolume_api_proxy_requests_total",
      help: "Requests that were passed on to the API server, by rule, verb and status; code is none if there was no answer.",
      labelNames: ["rule", "verb", "code"],
      registers,
    });
    this.#refused = new Counter({
      name: "nodevolume_api_proxy_refused_total",
      help: "Requests that were not passed on: not well formed, of no rule, with a body that the rule is not for, or too many at once.",
      labelNames: ["kind"],
      registers,
    });
    for (const kind of ["form", "rule", "body", "busy"] as const) this.#refused.inc({ kind }, 0);
    new Gauge({
      name: "nodevolume_api_proxy_in_flight",
      help: "Requests and watches that are being answered.",
      labelNames: ["kind"],
      registers,
      collect() {
        const { requests, watches } = inFlight();
        this.set({ kind: "request" }, requests);
        this.set({ kind: "watch" }, watches);
      },
    });
  }

  passed(rule: string, verb: string, status: number | undefined): void {
    this.#requests.inc({ rule, verb, code: status === undefined ? "none" : String(status) });
  }

  refused(kind: RefusedBy): void {
    this.#refused.inc({ kind });
  }
}
