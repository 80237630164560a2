import type { ServerResponse } from "node:http";
import type { Logger } from "../ports.ts";

const reasons = { 403: "Forbidden", 429: "TooManyRequests", 502: "BadGateway", 503: "ServiceUnavailable" } as const;

/**
 * Answers as an API server does that refuses. Nothing more is read on this connection: a body may still be on its way.
 */
export function refuse(response: ServerResponse, code: keyof typeof reasons, message: string): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const text = `api-proxy: ${message}`;
  const status = { kind: "Status", apiVersion: "v1", status: "Failure", reason: reasons[code], code, message: text };
  const retry = code === 429 ? { "retry-after": "1" } : {};
  response.writeHead(code, { "content-type": "application/json", connection: "close", ...retry });
  response.end(JSON.stringify(status));
}

/** Logs each kind of refusal once: an agent that sends requests which no rule allows repeats them again and again. */
export class LogOnce {
  readonly #log: Logger;
  readonly #told = new Set<string>();

  constructor(log: Logger) {
    this.#log = log;
  }

  refused(method: string, target: string, message: string): void {
    const [path = ""] = target.split("?", 1);
    if (this.#told.has(message) || this.#told.size >= most) return;
    this.#told.add(message);
    this.#log.warn("a request was not passed on", { method, path: path.slice(0, 256), reason: message });
  }
}

const most = 256;
