import type * as http from "node:http";
import type { Registry } from "prom-client";
import { messageOf } from "../errors.ts";
import { type Access, createTokenAccess, type TokenAccess } from "../kube/access/token-access.ts";
import type { KubeClient } from "../kube/client/client.ts";
import type { Clock, Logger } from "../ports.ts";
import { type Listener, listen } from "./http-listener.ts";
import { type SelfSigned, selfSigned } from "./self-signed.ts";

/** Dependencies of the server of /metrics, /healthz and /readyz. */
export interface HealthServerDeps {
  /** Without a host: every address of the machine, IPv6 and IPv4. Port 0 takes a free one, which the log names. */
  readonly address: { readonly host: string | undefined; readonly port: number };
  readonly registry: Pick<Registry, "contentType" | "metrics">;
  /** Why it is not ready to work; undefined if it is. */
  readonly notReady: () => string | undefined;
  /** What is wrong although it is ready; undefined if nothing is. */
  readonly remark?: () => string | undefined;
  /** Why it has to be started again; undefined if not. */
  readonly unhealthy?: () => string | undefined;
  /** Without it everybody is answered everything, in the clear. */
  readonly secure?: SecureMetrics | undefined;
  readonly log: Logger;
}

/** TLS, and who may read metrics and why something is not ready. */
interface SecureMetrics {
  readonly tls: SelfSigned;
  /** What the bearer of a token may. Rejects if that cannot be known now. */
  readonly access: TokenAccess;
}

/**
 * Metrics by TLS, to those alone who may get /metrics, as controller-runtime serves them. The certificate is made at
 * each start and signed by nobody: it keeps what is sent from who listens, and does not say who is asked.
 */
export function secureMetrics(deps: {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly audience: string | undefined;
}): SecureMetrics {
  return { tls: selfSigned("nodevolume-metrics"), access: createTokenAccess({ ...deps, path: "/metrics" }) };
}

const maxConnections = 512;

/** Serves /metrics, /healthz (it works) and /readyz (it has what it works by). Rejects if it cannot listen. */
export async function startHealthServer(deps: HealthServerDeps): Promise<Listener> {
  const { address, log } = deps;
  const listener = await listen({
    address,
    maxConnections,
    tls: deps.secure?.tls,
    onRequest(request, response) {
      answer(request, deps).then(
        ({ status, type, body }) => response.writeHead(status, { "content-type": type }).end(body),
        (error: unknown) => {
          log.error("a request to the health server failed", { path: request.url, error });
          response.writeHead(500).end();
        },
      );
    },
  });
  log.info("serving metrics and health", { host: listener.host, port: listener.port });
  return listener;
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

async function answer(request: http.IncomingMessage, deps: HealthServerDeps): Promise<Answer> {
  const { registry, notReady, unhealthy, remark } = deps;
  if (request.method !== "GET" && request.method !== "HEAD") return text(405, "only GET");
  const access = await accessOf(request, deps);
  switch ((request.url ?? "/").split("?", 1)[0]) {
    case "/metrics":
      if (access !== "allowed") return refused[access];
      return { status: 200, type: registry.contentType, body: await registry.metrics() };
    case "/healthz":
      return probed(unhealthy?.(), undefined, access);
    case "/readyz":
      return probed(notReady(), remark?.(), access);
    default:
      return text(404, "there are /metrics, /healthz and /readyz");
  }
}

/** What is wrong names what others have: the probes of kubelet need no more than the status. */
function probed(problem: string | undefined, remark: string | undefined, access: Access): Answer {
  const told = access === "allowed";
  if (problem !== undefined) return text(503, told ? problem : "not ok");
  return text(200, remark === undefined || !told ? "ok" : `ok, but ${remark}`);
}

async function accessOf(request: http.IncomingMessage, { secure, log }: HealthServerDeps): Promise<Access> {
  if (secure === undefined) return "allowed";
  const [, token] = /^Bearer ([!-~]{1,16384})$/i.exec(request.headers.authorization ?? "") ?? [];
  if (token === undefined) return "unauthenticated";
  try {
    return await secure.access(token, request.socket.remoteAddress ?? "");
  } catch (error) {
    log.warn("a caller of /metrics cannot be authenticated", { error: messageOf(error) });
    return "unknown";
  }
}

const refused = {
  unauthenticated: text(
    401,
    "a bearer token is needed that the API server knows, of the audience of --metrics-token-audience if that is set",
  ),
  forbidden: text(403, "the token's user may not get /metrics: bind the ClusterRole nodevolume-metrics-reader"),
  limited: text(429, "too many unknown tokens: retry in a few seconds"),
  unknown: text(503, "the caller cannot be authenticated now"),
} as const;

function text(status: number, body: string): Answer {
  return { status, type: "text/plain; charset=utf-8", body: `${body}\n` };
}
