// A plain HTTPS client of an API server for scripts and tests: apart from src/kube, so that the tests do not share its
// mistakes.
import { Agent as PlainAgent, request as plainRequest } from "node:http";
import { Agent, type RequestOptions, request as tlsRequest } from "node:https";
import { eachLine } from "./lines.ts";

export interface ApiAccess {
  /** https://host:port */
  readonly server: string;
  /** PEM of the certificate authority. */
  readonly ca: string;
  readonly token?: string;
}

/** A unix socket behind which somebody else, such as `kubectl proxy`, sees to who one is. */
export interface ProxyAccess {
  readonly socketPath: string;
}

export interface ApiAnswer {
  readonly status: number;
  readonly body: JsonObject;
}

export type JsonObject = { [key: string]: unknown };

export interface ApiCall {
  readonly body?: unknown;
  /** application/json if not given; a patch needs one of the patch types. */
  readonly contentType?: string;
  readonly timeoutMs?: number;
}

export const mergePatch = "application/merge-patch+json";
export const applyPatch = "application/apply-patch+yaml";

export interface ApiClient {
  /** Sends one request; every HTTP status is an answer. Rejects if there is none. */
  call(method: string, path: string, call?: ApiCall): Promise<ApiAnswer>;
  /**
   * Streams watch events until the signal aborts or the server ends it, whereupon it resolves. Rejects if it was
   * refused.
   */
  watch(path: string, onEvent: (event: JsonObject) => void, signal: AbortSignal): Promise<void>;
  close(): void;
}

export function createApiClient(access: ApiAccess | ProxyAccess): ApiClient {
  const proxy = "socketPath" in access;
  const request = proxy ? plainRequest : tlsRequest;
  const agent = proxy ? new PlainAgent({ keepAlive: true }) : new Agent({ keepAlive: true, ca: access.ca });
  const server = proxy ? "http://localhost" : access.server;
  const token = proxy ? undefined : access.token;
  const options = (method: string, path: string, contentType?: string): [URL, RequestOptions] => [
    new URL(path, server),
    {
      method,
      agent,
      ...(proxy ? { socketPath: access.socketPath } : {}),
      headers: {
        accept: "application/json",
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(contentType === undefined ? {} : { "content-type": contentType }),
      },
    },
  ];
  return {
    call: (method, path, { body, contentType = "application/json", timeoutMs = 30_000 } = {}) =>
      new Promise((resolve, reject) => {
        const payload = body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body);
        const outgoing = request(
          ...options(method, path, payload === undefined ? undefined : contentType),
          (incoming) => {
            const chunks: Buffer[] = [];
            incoming.on("data", (chunk: Buffer) => chunks.push(chunk)).on("error", reject);
            incoming.on("end", () =>
              resolve({ status: incoming.statusCode ?? 0, body: parse(Buffer.concat(chunks).toString()) }),
            );
          },
        );
        outgoing.setTimeout(timeoutMs, () =>
          outgoing.destroy(new Error(`${method} ${path}: no answer in ${timeoutMs} ms`)),
        );
        outgoing.on("error", reject).end(payload);
      }),
    watch: (path, onEvent, signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return resolve();
        const outgoing = request(...options("GET", path), (incoming) => {
          if (incoming.statusCode !== 200) reject(new Error(`watch ${path}: ${incoming.statusCode}`));
          eachLine(incoming, (line) => onEvent(parse(line)));
          incoming.on("close", () => resolve()).on("error", () => resolve());
        });
        signal.addEventListener("abort", () => outgoing.destroy(), { once: true });
        outgoing.on("error", (error) => (signal.aborted ? resolve() : reject(error))).end();
      }),
    close: () => agent.destroy(),
  };
}

function parse(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as JsonObject) : { value };
  } catch {
    return { text };
  }
}
