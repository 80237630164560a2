// What speaks the API's list, watch and writes to one controller, for measurements of its size. It authenticates nobody
// and keeps nothing: it is no API server.
import type { IncomingMessage, ServerResponse } from "node:http";
import * as https from "node:https";
import type { AddressInfo } from "node:net";
import { selfSigned } from "../../../../src/http/self-signed.ts";
import type { Cluster, Served } from "./cluster.ts";
import { createLists } from "./lists.ts";
import { selectorOf } from "./selectors.ts";
import { serveWatch } from "./streams.ts";
import { createWrites, keyOf, Refusal, type Stored, type Target, type Writes } from "./writes.ts";

export interface PretendedServer {
  readonly port: number;
  readonly ca: string;
  readonly writes: Writes;
  /** Requests by verb and resource: "create nodevolumeintents", "patch nodevolumeintents/status". */
  readonly requests: Map<string, number>;
  /** Watches that are still sending what they begin with. */
  listing(): number;
  /** Told of each request that was taken, before its answer. */
  onRequest: (what: string, sent: Stored | undefined) => void;
  close(): void;
}

interface Asked {
  readonly served: Served;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly status: boolean;
}

export async function startPretendedServer(cluster: Cluster): Promise<PretendedServer> {
  const writes = createWrites(cluster);
  const lists = createLists();
  const requests = new Map<string, number>();
  let listing = 0;
  const certificate = selfSigned("generator");
  const count = (what: string, asked: Asked, sent?: Stored) => {
    const text = `${what} ${asked.served.resource.plural}${asked.status ? "/status" : ""}`;
    requests.set(text, (requests.get(text) ?? 0) + 1);
    answering.onRequest(text, sent);
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "https://generator");
    const query = url.searchParams;
    const asked = askedFor(cluster, url.pathname);
    const { served, namespace, name } = asked;
    const target: Target = { served, namespace, name: name ?? "" };
    const selector = selectorOf(query.get("fieldSelector"), query.get("labelSelector"));
    const version = query.get("resourceVersion") ?? "";
    switch (request.method) {
      case "GET": {
        if (query.get("watch") === "true") {
          count("watch", asked);
          const initial = query.get("sendInitialEvents") === "true";
          const from = initial ? undefined : Number(version);
          const timeoutSeconds = Number(query.get("timeoutSeconds") ?? "300");
          const watch = { served, namespace, selector, from, timeoutSeconds };
          if (!initial) return serveWatch(cluster, watch, response);
          listing += 1;
          return serveWatch(cluster, watch, response).finally(() => {
            listing -= 1;
          });
        }
        count(name === undefined ? "list" : "get", asked);
        if (name !== undefined) return send(response, 200, found(target));
        const limit = Number(query.get("limit") ?? "0");
        const page = lists.page({ served, namespace, selector, limit, token: query.get("continue") ?? undefined });
        if (page === undefined) throw new Refusal(410, "Expired", "the continue token is too old");
        return send(response, 200, page);
      }
      case "POST": {
        const sent = (await bodyOf(request)) as Stored;
        const dryRun = query.get("dryRun") === "All";
        count(dryRun ? "dry-run" : "create", asked, sent);
        const made = writes.create({ ...target, name: sent.metadata.name }, sent, dryRun);
        return send(response, 201, JSON.stringify(made));
      }
      case "PUT": {
        const sent = (await bodyOf(request)) as Stored;
        count("update", asked, sent);
        return send(response, 200, JSON.stringify(writes.replace(target, sent)));
      }
      case "PATCH": {
        const sent = (await bodyOf(request)) as Stored;
        count("patch", asked, sent);
        return send(response, 200, JSON.stringify(writes.mergePatch(target, sent, asked.status)));
      }
      case "DELETE": {
        const { preconditions = {} } = ((await bodyOf(request)) ?? {}) as { preconditions?: object };
        count("delete", asked);
        const kept = writes.delete(target, preconditions);
        return send(response, 200, JSON.stringify(kept ?? { kind: "Status", apiVersion: "v1", status: "Success" }));
      }
      default:
        throw new Refusal(405, "MethodNotAllowed", `${request.method}`);
    }
  }

  const server = https.createServer({ ...certificate, keepAliveTimeout: 120_000 }, (request, response) => {
    answer(request, response).catch((error: unknown) => {
      const [status, reason] = error instanceof Refusal ? [error.status, error.reason] : [500, "InternalError"];
      const message = error instanceof Error ? error.message : String(error);
      if (status === 500) console.error(`generator: ${request.method} ${request.url}: ${message}`);
      const body = { kind: "Status", apiVersion: "v1", status: "Failure", reason, code: status, message };
      if (response.headersSent) response.destroy();
      else send(response, status, JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const answering: PretendedServer = {
    port: (server.address() as AddressInfo).port,
    ca: certificate.cert,
    writes,
    requests,
    listing: () => listing,
    onRequest() {},
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
  return answering;
}

function askedFor(cluster: Cluster, path: string): Asked {
  const [, root = "", namespaced, rest = ""] =
    /^(\/api\/v1|\/apis\/[^/]+\/[^/]+)(?:\/namespaces\/([^/]+)(?=\/[^/]))?\/(.+)$/.exec(path) ?? [];
  const [plural = "", name, subresource] = rest.split("/").map(decodeURIComponent);
  const served = cluster.served(root, plural);
  if (served === undefined || (subresource ?? "status") !== "status") {
    throw new Refusal(404, "NotFound", `the generator does not serve ${path}`);
  }
  const namespace = namespaced === undefined ? undefined : decodeURIComponent(namespaced);
  return { served, namespace, name, status: subresource === "status" };
}

function found(target: Target): string {
  const text = target.served.collection.get(keyOf(target));
  if (text !== undefined) return text;
  throw new Refusal(404, "NotFound", `${target.served.resource.plural} "${target.name}" not found`);
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString("utf8");
  return text === "" ? undefined : JSON.parse(text);
}

function send(response: ServerResponse, status: number, text: string): void {
  const body = Buffer.from(text);
  response.writeHead(status, { "content-type": "application/json", "content-length": body.length }).end(body);
}
