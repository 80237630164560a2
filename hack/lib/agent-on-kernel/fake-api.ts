import { resource } from "../../../src/api/names.ts";
import type { NodeVolumeIntent } from "../../../src/api/types.gen.ts";
import { resourcePath } from "../../../src/kube/client/resource-path.ts";
import type { ApiRequest, ApiResponse, StreamHandlers, Transport } from "../../../src/kube/client/transport.ts";
import type { Cancel } from "../../../src/ports.ts";

type Json = { [field: string]: unknown };
type ShownSecret = {
  readonly apiVersion: "v1";
  readonly kind: "Secret";
  readonly metadata: { readonly namespace: string; readonly name: string };
  readonly data: object;
};

/** Lines that one read of a socket may bring: 64 KiB of intents. */
const linesARead = 32;

/**
 * A fake API server in the agent's own process, for benchmarks of what the agent itself takes: it has no network, no
 * disk, no admission and no limit, and answers at once. Objects travel as text, as they do on a wire, so that the agent
 * never shares one with it. It has intents and Secrets; of all else it takes each write and shows none.
 */
export class FakeApi implements Transport {
  /** Told of each status write when it arrives: of which intent, and the status as it is from then on. */
  onStatus: (name: string, status: NodeVolumeIntent["status"]) => void = () => {};
  readonly #intents = new Map<string, NodeVolumeIntent>();
  readonly #watches = new Set<StreamHandlers>();
  readonly #secrets = new Map<string, ShownSecret>();
  readonly #secretWatches = new Map<string, Set<StreamHandlers>>();
  readonly #lines: string[] = [];
  #version = 1000;

  async request({ method, path, body, contentType }: ApiRequest): Promise<ApiResponse> {
    const [, name, subresource] = new RegExp(`^${intentsPath}/([^/]+)(/status)?$`).exec(path) ?? [];
    if (name !== undefined) return this.#onIntent(method, decodeURIComponent(name), body as Json, subresource);
    const secret = method === "GET" ? this.#secretAt(path) : undefined;
    if (secret !== undefined) return { status: 200, body: overTheWire(secret) };
    if (method === "GET") return { status: 404, body: { kind: "Status", reason: "NotFound", code: 404 } };
    if (contentType === "application/merge-patch+json") return { status: 200, body: {} };
    return { status: method === "POST" ? 201 : 200, body: { ...overTheWire(body as Json), ...this.#metadataOf(body) } };
  }

  stream({ path }: ApiRequest, handlers: StreamHandlers): Cancel {
    const secret = this.#secrets.get(path);
    const objects: object[] = path === intentsPath ? [...this.#intents.values()] : secret === undefined ? [] : [secret];
    const initial = objects.map((object) => line("ADDED", object));
    const end = { metadata: { resourceVersion: String(this.#version), annotations: { [endOfInitial]: "true" } } };
    let open = true;
    setImmediate(() => {
      if (!open) return;
      handlers.onOpen?.();
      for (const text of [...initial, line("BOOKMARK", end)]) handlers.onObject(JSON.parse(text));
      this.#watchesOf(path).add(handlers);
    });
    return () => {
      open = false;
      this.#watchesOf(path).delete(handlers);
    };
  }

  intents(): IterableIterator<NodeVolumeIntent> {
    return this.#intents.values();
  }

  /** The one Secret of a namespace, as an administrator writes it, or writes it anew. */
  writeSecret(namespace: string, name: string, values: Readonly<Record<string, string>>): void {
    this.#version += 1;
    const entries = Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString("base64")]);
    const metadata = { namespace, name, uid: `uid of ${name}`, resourceVersion: String(this.#version) };
    const secret: ShownSecret = { apiVersion: "v1", kind: "Secret", metadata, data: Object.fromEntries(entries) };
    const path = resourcePath(resource.secrets, { namespace });
    const type = this.#secrets.has(path) ? "MODIFIED" : "ADDED";
    this.#secrets.set(path, secret);
    for (const watch of this.#watchesOf(path)) watch.onObject(JSON.parse(line(type, secret)));
  }

  #secretAt(path: string): ShownSecret | undefined {
    return [...this.#secrets.values()].find(({ metadata }) => path === resourcePath(resource.secrets, metadata));
  }

  #watchesOf(path: string): Set<StreamHandlers> {
    if (path === intentsPath) return this.#watches;
    const known = this.#secretWatches.get(path) ?? new Set();
    this.#secretWatches.set(path, known);
    return known;
  }

  /**
   * As the controller: makes an intent, or changes it. The event reaches the agent with the next turn of its event
   * loop.
   */
  write(intent: NodeVolumeIntent): void {
    const { name } = intent.metadata;
    const known = this.#intents.has(name);
    this.#store(known ? "MODIFIED" : "ADDED", intent);
  }

  /** As the controller: revokes an intent. It is gone when the agent says that it is released. */
  revoke(name: string): void {
    const intent = this.#intents.get(name);
    if (intent === undefined) throw new Error(`no intent ${name}`);
    const { generation = 1, ...metadata } = intent.metadata;
    const deletionTimestamp = new Date().toISOString();
    this.#store("MODIFIED", { ...intent, metadata: { ...metadata, generation: generation + 1, deletionTimestamp } });
  }

  #onIntent(method: string, name: string, body: Json, subresource: string | undefined): ApiResponse {
    const intent = this.#intents.get(name);
    if (intent === undefined) return { status: 404, body: { kind: "Status", reason: "NotFound", code: 404 } };
    if (method === "GET") return { status: 200, body: overTheWire(intent) };
    if (method !== "PATCH" || subresource === undefined) throw new Error(`the fake API has no ${method} of ${name}`);
    const { metadata, status } = overTheWire(body) as { metadata?: Json; status: Json };
    const [was, said] = [intent.metadata.resourceVersion, metadata?.["resourceVersion"]];
    if (said !== undefined && said !== was)
      return { status: 409, body: { kind: "Status", reason: "Conflict", code: 409 } };
    const patched = {
      ...intent,
      status: merge(intent.status as unknown as Json, status) as unknown as typeof intent.status,
    };
    this.onStatus(name, patched.status);
    const released = patched.status.state === "Released" && intent.metadata.deletionTimestamp !== undefined;
    const stored = this.#store(released ? "DELETED" : "MODIFIED", patched);
    return { status: 200, body: overTheWire(stored) };
  }

  #store(type: "ADDED" | "MODIFIED" | "DELETED", intent: NodeVolumeIntent): NodeVolumeIntent {
    this.#version += 1;
    const stored = { ...intent, metadata: { ...intent.metadata, resourceVersion: String(this.#version) } };
    if (type === "DELETED") this.#intents.delete(intent.metadata.name);
    else this.#intents.set(intent.metadata.name, stored);
    this.#lines.push(line(type, stored));
    if (this.#lines.length === 1) setImmediate(() => this.#deliver());
    return stored;
  }

  #deliver(): void {
    for (const text of this.#lines.splice(0, linesARead)) {
      for (const watch of this.#watches) watch.onObject(JSON.parse(text));
    }
    if (this.#lines.length > 0) setImmediate(() => this.#deliver());
  }

  #metadataOf(body: unknown): Json {
    this.#version += 1;
    return { metadata: { ...((body as Json)["metadata"] as Json), resourceVersion: String(this.#version) } };
  }
}

const intentsPath = resourcePath(resource.intents);
const endOfInitial = "k8s.io/initial-events-end";

function line(type: string, object: object): string {
  return JSON.stringify({ type, object });
}

function overTheWire<T>(object: T): T {
  return JSON.parse(JSON.stringify(object)) as T;
}

/** RFC 7386. */
function merge(target: Json, patch: Json): Json {
  const merged: Json = { ...target };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else if (typeof value !== "object" || Array.isArray(value)) merged[key] = value;
    else merged[key] = merge((merged[key] as Json | undefined) ?? {}, value as Json);
  }
  return merged;
}
