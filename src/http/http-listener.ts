import * as http from "node:http";
import * as https from "node:https";
import type { AddressInfo } from "node:net";

/** An HTTP server that others can reach. */
export interface Listener {
  readonly host: string;
  readonly port: number;
  /** Ends every connection. */
  stop(): Promise<void>;
}

/** Dependencies of an HTTP listener. */
export interface ListenerDeps {
  /** Without a host: every address of the machine, IPv6 and IPv4. Port 0 takes a free one. */
  readonly address: { readonly host: string | undefined; readonly port: number };
  readonly maxConnections: number;
  /** PEM; without it what is sent is sent in the clear. */
  readonly tls?: { readonly key: string; readonly cert: string } | undefined;
  readonly onRequest: http.RequestListener;
}

/** Any pod can reach an agent's port: half-sent requests must not fill the memory (14 kB each). Milliseconds. */
const limits = {
  headersTimeout: 5_000,
  requestTimeout: 5_000,
  keepAliveTimeout: 30_000,
  connectionsCheckingInterval: 1_000,
};

/** Connections of one address, so that kubelet's probes and scrapers find room beside a pod that takes all it gets. */
const maxOfOne = 64;

/** Rejects if it cannot listen. */
export async function listen({ address, maxConnections, tls, onRequest }: ListenerDeps): Promise<Listener> {
  const server =
    tls === undefined
      ? http.createServer(limits, onRequest)
      : https.createServer(
          { ...limits, ...tls, minVersion: "TLSv1.2", handshakeTimeout: limits.headersTimeout },
          onRequest,
        );
  server.maxConnections = maxConnections;
  boundEachAddress(server);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(address.port, address.host, () => {
      server.off("error", reject);
      resolve();
    });
  });
  const { address: host, port } = server.address() as AddressInfo;
  return {
    host,
    port,
    stop() {
      return new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

function boundEachAddress(server: http.Server | https.Server): void {
  const open = new Map<string, number>();
  server.on("connection", (socket) => {
    const { remoteAddress = "" } = socket;
    const now = open.get(remoteAddress) ?? 0;
    if (now >= maxOfOne) {
      socket.destroy();
      return;
    }
    open.set(remoteAddress, now + 1);
    socket.once("close", () => {
      const left = (open.get(remoteAddress) ?? 1) - 1;
      if (left > 0) open.set(remoteAddress, left);
      else open.delete(remoteAddress);
    });
  });
}
