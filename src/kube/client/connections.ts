import * as http from "node:http";
import * as https from "node:https";
import { messageOf } from "../../errors.ts";
import type { Logger } from "../../ports.ts";

/** The use of a connection. Watches have connections of their own, so that they never hold up a request. */
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
function isUntrusted(error: unknown): boolean {
  return error instanceof Error && "code" in error && untrusted.has(error.code);
}

/** Watches have connections of their own: they would otherwise take all that requests may use. */
function connectionsTo(base: URL, ca: string | undefined) {
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

/** The connections to one server, made anew when the authority that its certificate is signed by is exchanged. */
export interface Connections {
  readonly current: ReturnType<typeof connectionsTo>;
  /**
   * A request has failed: if nobody whom we trust vouches for the server, looks whether the authority is another one by
   * now.
   */
  failed(error: unknown): void;
  /** Ends them all, also those of before: until then what they carry goes on. */
  close(): void;
}

/** HTTP agents for requests and for watches. They are replaced when the certificate authority changes. */
export function createConnections(deps: {
  readonly base: URL;
  /** PEM. */
  readonly ca?: string | undefined;
  readonly readCA?: (() => Promise<string>) | undefined;
  readonly log: Logger;
}): Connections {
  const { base, readCA, log } = deps;
  let { ca } = deps;
  let current = connectionsTo(base, ca);
  const opened = [current];
  let reading = false;

  async function readAgain(): Promise<void> {
    if (reading || readCA === undefined) return;
    reading = true;
    try {
      const read = await readCA();
      if (read === ca) return;
      ca = read;
      current = connectionsTo(base, ca);
      opened.push(current);
      log.info("the certificate authority of the API server was exchanged");
    } catch (failure) {
      log.warn("the certificate authority cannot be read again", { error: messageOf(failure) });
    } finally {
      reading = false;
    }
  }

  return {
    get current() {
      return current;
    },
    failed(error) {
      if (isUntrusted(error)) void readAgain();
    },
    close() {
      for (const { agents } of opened) {
        agents.requests.destroy();
        agents.streams.destroy();
      }
    },
  };
}
