import type { ErrorClass } from "../../errors.ts";
import { isRecord, numberIn, stringIn } from "../json.ts";
import type { ApiResponse } from "./transport.ts";
import { TransportError } from "./transport.ts";

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

/** The answer as an ApiError; `what` names the request that was refused. */
export function apiErrorOf(response: ApiResponse, what: string): ApiError {
  const { status, body } = response;
  const reason = stringIn(body, "reason") ?? `HTTP ${status}`;
  const text = stringIn(body, "message") ?? (typeof body === "string" ? body.slice(0, 256) : "no message");
  const details = isRecord(body) ? body["details"] : undefined;
  const seconds = numberIn(details, "retryAfterSeconds") ?? response.retryAfterSeconds;
  return new ApiError(
    status,
    reason,
    `${what}: ${status} ${reason}: ${text}`,
    seconds && Math.min(seconds, longestRetryAfter) * 1000,
  );
}

/** What a failed write says of the object that it was for. Anything but an answer of the server leaves it open. */
export function classifyWriteError(thrown: unknown): ErrorClass {
  if (!(thrown instanceof ApiError)) return "uncertain";
  switch (thrown.status) {
    case 401: // the token was read again, so it is one that will be valid or exchanged later
    case 409: // somebody else wrote first: read, decide and write again
    case 410: // the read that the write rests on is too old
    case 429: // refused before anything was done (flow control)
    case 503: // refused before anything was done (not ready)
      return "transient";
    case 500: // etcd may have taken it before the server failed
    case 502: // a proxy lost the answer
    case 504: // etcd or an admission webhook did not answer in time
      return "uncertain";
    default: // refused: invalid, forbidden, not found, too large
      return "final";
  }
}

/** PURE. Whether the API server answered 404: the object or the resource is not there. */
export function isNotFound(thrown: unknown): boolean {
  return thrown instanceof ApiError && thrown.status === 404;
}

/** Somebody else wrote first, or the object exists already, or the UID is another's. */
export function isConflict(thrown: unknown): boolean {
  return thrown instanceof ApiError && thrown.status === 409;
}

/** The resourceVersion or the continue token is older than what the server still knows. */
export function isExpired(thrown: unknown): boolean {
  return thrown instanceof ApiError && thrown.status === 410;
}

/** The API server could not be reached or is not ready: nothing that the caller did. */
export function isUnavailable(thrown: unknown): boolean {
  if (thrown instanceof TransportError) return true;
  return thrown instanceof ApiError && (thrown.status === 429 || thrown.status >= 500);
}
