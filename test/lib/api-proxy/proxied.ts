// An ApiProxy on a real unix socket, before a real HTTP server that a test plays the API server with.
import { mkdtempSync, rmSync } from "node:fs";
import * as http from "node:http";
import type { AddressInfo } from "node:net";
import * as net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Registry } from "prom-client";
import { fakeAnswer } from "../../../hack/lib/fake-answer.ts";
import { listen } from "../../../src/api-proxy/listen.ts";
import { ProxyMetrics } from "../../../src/api-proxy/metrics.ts";
import { ApiProxy } from "../../../src/api-proxy/proxy.ts";
import { createUpstream } from "../../../src/api-proxy/upstream.ts";
import type { HttpTransport } from "../../../src/kube/client/http-transport.ts";
import { createRealTransport } from "../../../src/kube/client/real-transport.ts";
import type { Logger, LogMeta } from "../../../src/ports.ts";
import { realSystem } from "../../../src/system.ts";
import { own } from "./requests.ts";

export interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

/** What the API server of a test answers, told of what it was asked. */
export type Answer = (asked: Asked, response: http.ServerResponse) => void;

export class Proxied {
  readonly directory = mkdtempSync(join(tmpdir(), "nodevolume-api-proxy-"));
  readonly socket = join(this.directory, "api", "api.sock");
  readonly asked: Asked[] = [];
  readonly lines: { readonly message: string; readonly meta: LogMeta | undefined }[] = [];
  readonly registry = new Registry();
  readonly tokens = { now: "token-1", refused: [] as string[] };
  proxy!: ApiProxy;
  transport!: HttpTransport;
  answer: Answer = ({ url }, response) => {
    const { body } = fakeAnswer(new URL(url, "http://api").pathname, { status: 200, body: { ok: true } });
    response.setHeader("content-type", "application/json").end(JSON.stringify(body));
  };
  readonly #server = http.createServer((request, response) => void this.#heard(request, response));
  #close = () => {};

  static async start(): Promise<Proxied> {
    const proxied = new Proxied();
    await new Promise<void>((resolve) => proxied.#server.listen(0, "127.0.0.1", resolve));
    const access = { server: `unix://${proxied.socket}`, caFile: "", tokenFile: "" };
    proxied.transport = await createRealTransport({ system: realSystem(proxied.#log()), access, userAgent: "agent/1" });
    await proxied.startProxy();
    return proxied;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async startProxy(port = this.port): Promise<void> {
    const log = this.#log();
    const upstream = createUpstream({
      server: `http://127.0.0.1:${port}`,
      token: {
        current: () =>
          this.tokens.now === "" ? Promise.reject(new Error("no file")) : Promise.resolve(this.tokens.now),
        refused: (token) => void this.tokens.refused.push(token),
      },
      userAgent: "proxy/1",
      log,
    });
    this.registry.clear();
    const metrics = new ProxyMetrics(this.registry, () => this.proxy.inFlight);
    this.proxy = new ApiProxy({ system: realSystem(log), own, upstream, metrics });
    this.#close = upstream.close;
    await listen(this.proxy.server, this.socket);
  }

  /** As a process that is killed: connections break, the socket stays. */
  async endProxy(): Promise<void> {
    this.#close();
    this.proxy.server.closeAllConnections();
    await new Promise<void>((resolve) => this.proxy.server.close(() => resolve()));
  }

  /** Bytes over the socket, and all that comes back until the proxy closes, or for so many milliseconds. */
  raw(bytes: string | Buffer, ms = 20_000): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = net.connect(this.socket);
      let text = "";
      const timer = setTimeout(() => socket.destroy(), ms);
      socket.setEncoding("utf8");
      socket.on("data", (chunk) => (text += chunk));
      socket.on("error", (error: NodeJS.ErrnoException) =>
        error.code === "EPIPE" || error.code === "ECONNRESET" ? undefined : reject(error),
      );
      socket.on("close", () => {
        clearTimeout(timer);
        resolve(text);
      });
      socket.write(bytes);
    });
  }

  async metric(name: string): Promise<number> {
    const line = (await this.registry.metrics()).split("\n").find((one) => one.startsWith(`${name} `));
    return Number(line?.slice(name.length + 1) ?? Number.NaN);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.transport.close();
    await this.endProxy();
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
    rmSync(this.directory, { recursive: true });
  }

  async #heard(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    const { method = "", url = "", headers } = request;
    const asked = { method, url, headers, body };
    this.asked.push(asked);
    this.answer(asked, response);
  }

  #log(): Logger {
    const write = (message: string, meta?: LogMeta) => void this.lines.push({ message, meta });
    const log: Logger = { debug: write, info: write, warn: write, error: write, child: () => log };
    return log;
  }
}
