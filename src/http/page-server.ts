import type * as http from "node:http";
import { promisify } from "node:util";
import { constants, gzip } from "node:zlib";
import { searchOf } from "../controller/page/find.ts";
import type { Page } from "../controller/page/page.ts";
import type { PageFiles } from "../page-files.ts";
import type { Logger, Timers } from "../ports.ts";
import { type Listener, listen } from "./http-listener.ts";

/** Dependencies of serving the page over HTTP. */
export interface PageServerDeps {
  readonly address: { readonly host: string | undefined; readonly port: number };
  readonly page: Page;
  readonly files: PageFiles;
  readonly timers: Timers;
  readonly log: Logger;
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
  readonly tag?: string;
}

const maxConnections = 128;
/** Milliseconds between two signs of life: a connection that is forwarded breaks without anybody saying so. */
const heartbeatMs = 20_000;
/** Bytes that one who follows may leave unread. */
const mostUnread = 64 * 1024;
const json = "application/json; charset=utf-8";
const squeeze = promisify(gzip);

/** Only what this server has may run in the page, nothing is kept, and no other site may show or read it (no CORS). */
const headers = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
};

/** Serves the page on one port, for reading alone. Rejects if it cannot listen. */
export async function startPageServer(deps: PageServerDeps): Promise<Listener> {
  const { address, page, files, log } = deps;
  const packed = new Map<string, Promise<Buffer>>();

  const listener = await listen({ address, maxConnections, onRequest });
  log.info("serving the page", { host: listener.host, port: listener.port });
  return listener;

  function onRequest(request: http.IncomingMessage, response: http.ServerResponse): void {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    const refused = refusal(request);
    const [path = "/", query = ""] = (request.url ?? "/").split("?", 2);
    if (refused === undefined && path === "/api/changes" && request.method === "GET") {
      follow(response, deps);
      return;
    }
    (refused === undefined ? answer(path, query) : Promise.resolve(refused))
      .then((found) => send(request, response, found))
      .catch((error: unknown) => {
        log.error("a request to the page failed", { path, error });
        if (!response.headersSent) response.writeHead(500);
        response.end();
      });
  }

  async function answer(path: string, query: string): Promise<Answer> {
    const file = files.get(path);
    if (file !== undefined) return { status: 200, ...file };
    if (path === "/api/overview") {
      const { tag, text } = await page.overview();
      return { status: 200, type: json, text, tag: `"${tag}"` };
    }
    if (path === "/api/find") return find(query);
    const [, kind, name = ""] = /^\/api\/(volumes|nodes)\/([a-z0-9][a-z0-9.-]{0,252})$/.exec(path) ?? [];
    if (kind === undefined) return plain(404, "there is no such page");
    const details = kind === "volumes" ? await page.volume(name) : await page.node(name);
    if (details === undefined) return plain(404, `there is no ${kind === "volumes" ? "intent" : "node"} ${name}`);
    return { status: 200, type: json, text: JSON.stringify(details) };
  }

  async function find(query: string): Promise<Answer> {
    const search = searchOf(new URLSearchParams(query));
    if (search === undefined) return plain(400, "words=WORD+WORD or names=NAME+NAME");
    const found = await page.find(search);
    if (found === undefined) return plain(503, "too many searches at once");
    return { status: 200, type: json, text: JSON.stringify(found) };
  }

  async function send(request: http.IncomingMessage, response: http.ServerResponse, found: Answer): Promise<void> {
    const { status, type, text, tag } = found;
    if (tag !== undefined) response.setHeader("etag", tag);
    if (tag !== undefined && request.headers["if-none-match"] === tag) return void response.writeHead(304).end();
    response.setHeader("content-type", type);
    response.setHeader("vary", "accept-encoding");
    let body: string | Buffer = text;
    if (text.length > 1_000 && /\bgzip\b/.test(String(request.headers["accept-encoding"] ?? ""))) {
      body = await zipped(text, tag);
      response.setHeader("content-encoding", "gzip");
    }
    response.setHeader("content-length", Buffer.byteLength(body));
    response.writeHead(status).end(request.method === "HEAD" ? undefined : body);
  }

  /** Requests for the same edition share its compressed text. */
  function zipped(text: string, tag = ""): Promise<Buffer> {
    const known = packed.get(tag);
    if (known !== undefined && tag !== "") return known;
    const made = squeeze(text, { level: constants.Z_BEST_SPEED });
    if (tag !== "") packed.clear();
    if (tag !== "") packed.set(tag, made);
    return made;
  }
}

/**
 * Why a request is not answered. A name that leads here without being this machine's own is that of another site, whose
 * script would pass for ours (DNS rebinding). A browser says itself if another site has sent it: that site may link to
 * the page, and not to what is searched or read for it.
 */
function refusal({ method, headers, url = "" }: http.IncomingMessage): Answer | undefined {
  if (method !== "GET" && method !== "HEAD") return plain(405, "only GET");
  const { host = "" } = headers;
  if (!/^(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/i.test(host))
    return plain(
      421,
      "open the page at 127.0.0.1: kubectl -n nodevolume-system port-forward --address 127.0.0.1 deploy/nodevolume-controller 9809",
    );
  const site = headers["sec-fetch-site"];
  const isLink = headers["sec-fetch-mode"] === "navigate" && !url.startsWith("/api/");
  if (site !== undefined && site !== "same-origin" && site !== "none" && !isLink)
    return plain(403, "not for other sites");
  return undefined;
}

/** Server-sent events: the tag of each edition of the overview. */
function follow(response: http.ServerResponse, { page, timers, log }: PageServerDeps): void {
  const write = (text: string) => {
    if (response.writableLength > mostUnread) response.destroy();
    else response.write(text);
  };
  const unfollow = page.follow((tag) => write(`data: ${tag}\n\n`));
  if (unfollow === undefined) {
    log.debug("too many look at the page");
    response.writeHead(503, { "content-type": "text/plain; charset=utf-8", "retry-after": "30" });
    return void response.end("too many look at the page; it is read every ten seconds instead\n");
  }
  let beat = timers.after(heartbeatMs, pulse);
  function pulse(): void {
    write(": here\n\n");
    beat = timers.after(heartbeatMs, pulse);
  }
  response.on("close", () => {
    unfollow();
    beat();
  });
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
  write("retry: 3000\n\n");
}

function plain(status: number, text: string): Answer {
  return { status, type: "text/plain; charset=utf-8", text: `${text}\n` };
}
