import * as http from "node:http";
import * as https from "node:https";

export type Purpose = "requests" | "streams";

/** The errors by which OpenSSL says that nobody whom we trust vouches for a certificate. */
const untrusted: ReadonlySet<unknown> = new Set([
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "CERT_SIGNATURE_FAILURE",
  "CERT_UNTRUSTED",
]);

/** Whether a request failed because the server's certificate is not signed by the authority. */
export function isUntrusted(error: unknown): boolean {
  return error instanceof Error && "code" in error && untrusted.has(error.code);
}

/** Watches have connections of their own: they would otherwise take all that requests may use. */
export function connectionsTo(base: URL, ca: string | undefined) {
  const requests = { keepAlive: true, keepAliveMsecs: 30_000, maxSockets: 32, scheduling: "lifo" } as const;
  const streams = { keepAlive: true, keepAliveMsecs: 30_000 } as const;
  if (base.protocol === "http:") {
    return { request: http.request, agents: { requests: new http.Agent(requests), streams: new http.Agent(streams) } };
  }
  const tls = { minVersion: "TLSv1.2", ...(ca !== undefined && { ca }) } as const;
  return {
    request: https.request,
    agents: { requests: new https.Agent({ ...requests, ...tls }), streams: new https.Agent({ ...streams, ...tls }) },
  };
}
