import type * as http from "node:http";
import { createConnections } from "../kube/client/http-transport.ts";
import type { TokenSource } from "../kube/client/token-source.ts";
import type { Logger } from "../ports.ts";
import type { Call } from "./decide.ts";

/** How the proxy reaches the API server. */
export interface UpstreamDeps {
  /** https://host:port. http:// is for tests: the token would go over the wire in the clear. */
  readonly server: string;
  readonly ca?: string;
  readonly readCA?: () => Promise<string>;
  readonly token: TokenSource;
  readonly userAgent: string;
  readonly log: Logger;
}

/** The API server, asked with the token. */
export interface Upstream {
  /** Sends a call. Rejects, before anything is sent, if there is no token. */
  send(call: Call, body: string | undefined): Promise<http.ClientRequest>;
  close(): void;
}

/** Forwards requests to the API server with the proxy's own token. */
export function createUpstream({ server, ca, readCA, token, userAgent, log }: UpstreamDeps): Upstream {
  const base = new URL(server);
  const connections = createConnections({ base, ca, readCA, log });
  return {
    async send({ method, path, verb, asUser, contentType }, body) {
      const bearer = await token.current();
      const { request, agents } = connections.current;
      const sent = request(new URL(path, base), {
        agent: verb === "watch" ? agents.streams : agents.requests,
        method,
        headers: {
          accept: "application/json",
          authorization: `Bearer ${bearer}`,
          "user-agent": userAgent,
          ...(asUser !== undefined && { "impersonate-user": asUser }),
          ...(body !== undefined && { "content-type": contentType, "content-length": Buffer.byteLength(body) }),
        },
      });
      sent.on("error", connections.failed);
      sent.on("response", ({ statusCode }) => {
        if (statusCode === 401) token.refused(bearer); // the agent asks once more, and the token is read again
      });
      sent.end(body);
      return sent;
    },
    close: connections.close,
  };
}
