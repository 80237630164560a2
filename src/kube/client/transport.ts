import type { Cancel } from "../../ports.ts";

/**
 * The port to an API server: requests and watches as JSON. http-transport.ts is the real one; test/sim has one that
 * behaves like an API server, compared with the real one by a differential test.
 */
export interface Transport {
  /**
   * Sends one request and waits for the whole answer. Every HTTP status is an answer; it rejects with TransportError
   * only if there is none, and then a write may or may not have been applied.
   */
  request(request: ApiRequest): Promise<ApiResponse>;
  /**
   * Opens a watch. `onObject` gets each line as parsed JSON, in order; `onEnd` is called once: with a status if the
   * server answered with one that is not 200, with an error if the connection broke, with neither if the server closed
   * it. After cancel nothing is called.
   */
  stream(request: ApiRequest, handlers: StreamHandlers): Cancel;
}

/** A request to the API server. */
export interface ApiRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path without query, such as /api/v1/nodes. */
  readonly path: string;
  readonly query?: { readonly [name: string]: string };
  readonly body?: unknown;
  /** application/json if not given. */
  readonly contentType?: "application/json" | "application/merge-patch+json";
  /** User that the request is made as, where the server lets the caller impersonate it (Impersonate-User). */
  readonly asUser?: string | undefined;
  /** Milliseconds until the request is given up; 30,000 if not given. A stream has no limit but `idleMs`. */
  readonly timeoutMs?: number;
  /** Milliseconds without a line after which a stream counts as broken. */
  readonly idleMs?: number;
}

/** The answer of the API server, whatever its status. */
export interface ApiResponse {
  readonly status: number;
  readonly body: unknown;
  /** The header Retry-After: flow control refuses with it, and with no metav1.Status. */
  readonly retryAfterSeconds?: number;
}

/** Callbacks for the messages of a watch. After `onEnd` nothing is called. */
export interface StreamHandlers {
  /** The server has accepted the watch. A quiet resource may send nothing for a minute after that. */
  onOpen?(): void;
  onObject(object: unknown): void;
  onEnd(end: { readonly response?: ApiResponse; readonly error?: Error }): void;
}

/** There was no answer: connection refused, broken, or timed out. */
export class TransportError extends Error {
  override readonly name = "TransportError";
}

/** The answer has more bytes than are held in memory: the cause of a TransportError. */
export class AnswerTooLargeError extends Error {
  override readonly name = "AnswerTooLargeError";
}
