import { printable } from "../../api/values/printable.ts";
import type { ErrorClass } from "../../errors.ts";
import { numberIn, recordIn, stringIn } from "../json.ts";
import { type ApiRequest, type ApiResponse, type Transport, TransportError } from "./transport.ts";

/** The API server answered, and refused. `reason` is that of metav1.Status, such as Conflict or NotFound. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly reason: string;
  /** How long the server asks to be left alone. */
  readonly retryAfterMs: number | undefined;

  constructor(status: number, reason: string, message: string, retryAfterMs?: number) {
    super(message);
    this.status = status;
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * Seconds that a server is left alone at most, whatever it asks for. Flow control asks for one; who asks for a day,
 * such as an error page, would be heard all that day, also after it has gone.
 */
const longestRetryAfter = 60;

/**
 * The answer as an error; `what` names the request that was refused. An API server refuses with a Status, but for paths
 * that it does not serve, and where it has no time; and others may check credentials for it (401). Of any other answer
 * nobody knows who gave it: a load balancer's page says nothing of an object.
 */
export function errorOf(response: ApiResponse, what: string): ApiError | TransportError {
  const { status, body } = response;
  const reason = stringIn(body, "reason") ?? `HTTP ${status}`;
  const page = typeof body === "string" ? body.slice(0, 256).trim() : undefined;
  const text = page ?? stringIn(body, "message") ?? "no message";
  const mayHaveNone = page === "404 page not found" || status === 401 || status === 429 || status >= 500;
  if (stringIn(body, "kind") !== "Status" && !mayHaveNone)
    return foreignAnswer(`${what}: ${status}`, "Status", `: ${printable(text.slice(0, 256))}`);
  const seconds = numberIn(recordIn(body, "details"), "retryAfterSeconds") ?? response.retryAfterSeconds;
  return new ApiError(
    status,
    reason,
    `${what}: ${status} ${reason}: ${text}`,
    seconds && Math.min(seconds, longestRetryAfter) * 1000,
  );
}

/** An answer that no API server gives. Of a write nobody knows whether it was applied. */
export function foreignAnswer(what: string, wanted: string, text = ""): TransportError {
  const why = `the API server's answer is no ${wanted}: something between may have answered${text}`;
  return new TransportError(`${what}: ${why}`);
}

/** The body of the answer. @throws ApiError, TransportError */
export async function bodyOf(transport: Transport, request: ApiRequest): Promise<unknown> {
  const answer = await transport.request(request);
  if (answer.status >= 200 && answer.status <= 299) return answer.body;
  throw errorOf(answer, `${request.method} ${request.path}`);
}

/** What a failed write says of the object that it was for. Anything but an answer of the server leaves it open. */
export function classifyWriteError(thrown: unknown): ErrorClass {
  if (!(thrown instanceof ApiError)) return "uncertain";
  switch (thrown.status) {
    case 401: // the token was read again, so it is one that will be valid or exchanged later
    case 409: // somebody else wrote first: read, decide and write again
    case 410: // the read that the write rests on is too old
    case 429: // refused before anything was done (flow control)
      return "transient";
    case 503: // a proxy answers so, too, after it has passed a write on; the API server only before it did anything
      return thrown.reason === "ServiceUnavailable" ? "transient" : "uncertain";
    case 500: // etcd may have taken it before the server failed
    case 502: // a proxy lost the answer
    case 504: // etcd or an admission webhook did not answer in time
      return "uncertain";
    default: // refused: invalid, forbidden, not found, too large
      return "final";
  }
}

/**
 * PURE. Whether the API server says that there is no such object. It says the same of a resource that a version which
 * it serves lacks, but not of a version that it does not serve, as ours before the CRDs are installed.
 */
export function isNotFound(thrown: unknown): boolean {
  return thrown instanceof ApiError && thrown.status === 404 && thrown.reason === "NotFound";
}

/** PURE. No object, if the API server says that there is none. @throws anything else */
export function noneIfNotFound(thrown: unknown): undefined {
  if (!isNotFound(thrown)) throw thrown;
}

/** PURE. No object, also if the API server does not serve its kind. @throws anything else */
export function noneIfNotServed(thrown: unknown): undefined {
  if (!(thrown instanceof ApiError && thrown.status === 404)) throw thrown;
}

/** Somebody else wrote first, or the object exists already, or the UID is another's. */
export function isConflict(thrown: unknown): boolean {
  return thrown instanceof ApiError && thrown.status === 409;
}

/** The API server could not be reached or is not ready: nothing that the caller did. */
export function isUnavailable(thrown: unknown): boolean {
  return thrown instanceof ApiError ? thrown.status === 429 || thrown.status >= 500 : thrown instanceof TransportError;
}
