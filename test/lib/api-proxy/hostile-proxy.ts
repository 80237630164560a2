// A proxy that was taken over: it says what it likes to an agent that asks it for the API server.
import { mkdtempSync, rmSync } from "node:fs";
import * as http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject } from "../../../hack/lib/api-client.ts";

const endOfInitial = { "k8s.io/initial-events-end": "true" };
const intentsPath = "/apis/nodevolume.dev/v1alpha1/nodevolumeintents";

/** What a request that is no watch of intents is answered with. */
export type Reply = (method: string, path: string) => { readonly status: number; readonly body: string };

export class HostileProxy {
  readonly directory = mkdtempSync(join(tmpdir(), "nodevolume-hostile-"));
  readonly socket = join(this.directory, "api.sock");
  /** Watches of intents that were opened. */
  watches = 0;
  reply: Reply = () => ({ status: 404, body: '{"kind":"Status","code":404}' });
  #version = 1_000;
  /** What a watch shows from the beginning before it says that this is all. */
  all: readonly JsonObject[] = [];
  readonly #open = new Set<http.ServerResponse>();
  readonly #server = http.createServer((request, response) => this.#answer(request, response));

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(this.socket, resolve));
  }

  /** Shows an object, says that it is gone, or that all is to be read again, on every watch that is open. */
  show(type: "ADDED" | "MODIFIED" | "DELETED" | "ERROR", object: unknown): void {
    this.write(`${this.#event(type, object)}\n`);
  }

  /** Whatever it is, to every watch that is open. */
  write(text: string | Buffer): void {
    for (const response of this.#open) response.write(text);
  }

  /** Ends the watches, whether they are at the end of a line or not. */
  end(): void {
    for (const response of this.#open) response.end();
    this.#open.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
    rmSync(this.directory, { recursive: true });
  }

  #event(type: string, object: unknown): string {
    this.#version += 1;
    const resourceVersion = String(this.#version);
    const of = object as { metadata?: object } | null;
    const isObject = typeof of === "object" && of !== null && typeof of.metadata === "object" && of.metadata !== null;
    return JSON.stringify({
      type,
      object: isObject ? { ...of, metadata: { ...of.metadata, resourceVersion } } : object,
    });
  }

  #answer(request: http.IncomingMessage, response: http.ServerResponse): void {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://api");
    if (searchParams.get("watch") === "true" && pathname === intentsPath) {
      response.writeHead(200, { "content-type": "application/json" });
      response.flushHeaders();
      if (searchParams.has("sendInitialEvents")) {
        for (const object of this.all) response.write(`${this.#event("ADDED", object)}\n`);
        response.write(
          `${this.#event("BOOKMARK", { kind: "NodeVolumeIntent", metadata: { annotations: endOfInitial } })}\n`,
        );
      }
      this.watches += 1;
      this.#open.add(response);
      response.on("close", () => this.#open.delete(response));
      return;
    }
    const { status, body } = this.reply(request.method ?? "", pathname);
    response.writeHead(status, { "content-type": "application/json" }).end(body);
  }
}
