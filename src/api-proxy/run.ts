import { readFile } from "node:fs/promises";
import { Registry } from "prom-client";
import { fieldManager } from "../api/names.ts";
import type { ApiProxyConfig } from "../config.ts";
import { messageOf } from "../errors.ts";
import { secureMetrics, startHealthServer } from "../http/health-server.ts";
import { createKubeClient } from "../kube/client/client.ts";
import { createHttpTransport } from "../kube/client/http-transport.ts";
import { createFileTokenSource } from "../kube/client/token-source.ts";
import type { Logger } from "../ports.ts";
import { aborted, realSystem } from "../system.ts";
import { version } from "../version.ts";
import { metricsBeside } from "./beside.ts";
import { listen } from "./listen.ts";
import { ProxyMetrics } from "./metrics.ts";
import { ownOf } from "./own.ts";
import { ApiProxy } from "./proxy.ts";
import { createUpstream } from "./upstream.ts";

/** The role `api-proxy` in a real process: holds the token of the agent beside it, and asks the API server for it. */
export async function runApiProxy(config: ApiProxyConfig, log: Logger, signal: AbortSignal): Promise<void> {
  const { nodeName, socket, api, metricsAddress, agentMetrics, secureMetrics: secure } = config;
  if (!api.server.startsWith("https://")) {
    throw new Error(`the API server's address must start with https://, not ${api.server}: the token is a secret`);
  }
  const system = realSystem(log);
  const text = (path: string) => readFile(path, "utf8");
  const readCA = () => text(api.caFile);
  const token = createFileTokenSource({ readFile: text, path: api.tokenFile, clock: system.clock });
  const ca = await readCA();
  const userAgent = `nodevolume-agent/${version}`;
  const upstream = createUpstream({ server: api.server, ca, readCA, token, userAgent, log });
  const registry = new Registry();
  const metrics = new ProxyMetrics(registry, () => proxy.inFlight);
  const proxy = new ApiProxy({ system, own: ownOf(nodeName), upstream, metrics });
  await listen(proxy.server, socket);
  log.info("serving the agent", { socket, node: nodeName });
  let noToken: string | undefined;
  const look = () =>
    token.current().then(
      () => {
        noToken = undefined;
      },
      (error: unknown) => {
        noToken = `the token cannot be read: ${messageOf(error)}`;
      },
    );
  await look();
  // Requests of the proxy itself, with the agent's account: they go through no rule, and no agent can cause them.
  const reviews = secure
    ? createHttpTransport({ system, server: api.server, ca, readCA, token, userAgent })
    : undefined;
  const client = reviews && createKubeClient({ transport: reviews, fieldManager: fieldManager.agent });
  const health = await startHealthServer({
    secure: client && secureMetrics({ client, clock: system.clock, audience: config.metricsTokenAudience }),
    address: metricsAddress,
    registry: metricsBeside(registry, agentMetrics),
    notReady() {
      void look(); // for whoever asks next
      return noToken;
    },
    log,
  });
  await aborted(signal);
  await new Promise<void>((resolve) => {
    proxy.server.close(() => resolve());
    proxy.server.closeAllConnections();
  });
  upstream.close();
  reviews?.close();
  await health.stop();
}
