import type { Resource } from "../../../src/api/names.ts";
import { apiVersionOf, resourcePath } from "../../../src/kube/client/resource-path.ts";
import type { ApiRequest, ApiResponse, Transport } from "../../../src/kube/client/transport.ts";
import { isJson, type Json, mergePatch } from "../api/json.ts";
import { kindOf } from "../api/kinds.ts";
import type { ApiOperation, Preconditions, Selectors } from "./api-operations.ts";

/** One answer, or all lines of a watch, as they came. */
export interface Told {
  readonly what: string;
  readonly response?: ApiResponse;
  readonly watch?: OpenWatch;
}

export interface OpenWatch {
  readonly resource: Resource;
  readonly lines: Json[];
  /** Of the status that it ended with, if it was not just closed. */
  ended: ApiResponse | "closed" | "broken" | undefined;
  close(): void;
}

const wrongUID = "00000000-0000-4000-8000-00000000dead";
const namespace = "default";
const strict = { fieldManager: "differential", fieldValidation: "Strict" };
const watchParameters = { watch: "true", allowWatchBookmarks: "true", timeoutSeconds: "300" };
const fromAll = { sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan" };

/** Makes requests to one API server, and remembers what came of each. */
export class ApiActor {
  readonly told: Told[] = [];
  readonly watches: OpenWatch[] = [];
  readonly #transport: Transport;
  readonly #sequence: string;
  /** How long a watch may take to show all objects. Rejects when it is over. */
  readonly #until: (what: string, check: () => boolean) => Promise<void>;
  /** By resource and name: the first version that the object was seen in. */
  readonly #first = new Map<string, string>();
  readonly #start = new Map<string, string>();

  /** @param sequence distinguishes the objects of this sequence from all others, by name and label */
  constructor(transport: Transport, sequence: string, until: (what: string, check: () => boolean) => Promise<void>) {
    this.#transport = transport;
    this.#sequence = sequence;
    this.#until = until;
  }

  /** Takes down the version that watches from the start begin at. */
  async begin(resources: readonly Resource[]): Promise<void> {
    for (const resource of resources) this.#start.set(resource.plural, await this.#version(resource));
  }

  async carryOut(operation: ApiOperation): Promise<void> {
    const { resource, verb } = operation;
    if (verb === "watch") return this.#watch(resource, operation.selectors, operation.from);
    if (verb === "list") return this.#list(resource, operation.selectors, operation.limit);
    const at = { ...this.#place(resource), name: `${this.#sequence}-${operation.name}` };
    const path = resourcePath(resource, at);
    if (verb === "get") {
      await this.#tell("get", { method: "GET", path });
      return;
    }
    const present = needsCurrent(operation) ? await this.#present(path) : undefined;
    if (verb === "create") await this.#tell("create", this.#creation(resource, at.name, operation.object));
    else if (verb === "delete") {
      const preconditions = this.#preconditions(path, present, operation.preconditions);
      const body = { apiVersion: "v1", kind: "DeleteOptions", preconditions };
      await this.#tell("delete", { method: "DELETE", path, query: strict, body });
    } else if (verb === "put") {
      const fallback = this.#object(resource, at.name, operation.object);
      const metadata = this.#preconditions(path, present, operation.preconditions);
      const base = mergePatch(present ?? fallback, { metadata: { uid: null, resourceVersion: null } });
      const body = mergePatch(mergePatch(base, operation.change), { metadata });
      await this.#tell("put", { method: "PUT", path, query: strict, body });
    } else {
      const metadata = this.#preconditions(path, present, operation.preconditions);
      const status = verb === "patchStatus";
      const body = mergePatch(status ? { status: operation.patch } : operation.patch, { metadata });
      const contentType = "application/merge-patch+json" as const;
      const to = status ? resourcePath(resource, { ...at, subresource: "status" }) : path;
      await this.#tell(verb, { method: "PATCH", path: to, query: strict, contentType, body });
    }
    await this.#tell("afterwards", { method: "GET", path });
  }

  /** Makes objects that every watch of the resource shows one of, so that its end is known. */
  async mark(resource: Resource, spec: Json | undefined): Promise<void> {
    for (const [index, labels] of [{ color: "red" }, {}, { color: "blue" }].entries()) {
      const object = { metadata: { labels }, ...spec };
      await this.#transport.request(this.#creation(resource, `${this.#sequence}-mark-${index}`, object));
    }
  }

  /** Removes all objects of the sequence. */
  async cleanUp(resource: Resource): Promise<void> {
    const query = { labelSelector: `sequence=${this.#sequence}` };
    const { body } = await this.#transport.request({
      method: "GET",
      path: resourcePath(resource, this.#place(resource)),
      query,
    });
    for (const item of isJson(body) && Array.isArray(body["items"]) ? body["items"] : []) {
      const path = resourcePath(resource, { ...this.#place(resource), name: item.metadata.name });
      const patch = { metadata: { finalizers: null } };
      const contentType = "application/merge-patch+json" as const;
      if (item.metadata.finalizers) await this.#transport.request({ method: "PATCH", path, contentType, body: patch });
      await this.#transport.request({ method: "DELETE", path });
    }
  }

  async #present(path: string): Promise<Json | undefined> {
    const { status, body } = await this.#transport.request({ method: "GET", path });
    return status === 200 && isJson(body) ? body : undefined;
  }

  async #list(resource: Resource, selectors: Selectors, limit: number | undefined): Promise<void> {
    const path = resourcePath(resource, this.#place(resource));
    const query = { ...this.#selection(selectors), ...(limit !== undefined && { limit: String(limit) }) };
    const items: unknown[] = [];
    for (let token = ""; ; ) {
      const more = token === "" ? {} : { continue: token };
      const response = await this.#transport.request({ method: "GET", path, query: { ...query, ...more } });
      const { body } = response;
      const page = isJson(body) && Array.isArray(body["items"]) ? body["items"] : undefined;
      items.push(...(page ?? []));
      token = isJson(body) && isJson(body["metadata"]) ? String(body["metadata"]["continue"] ?? "") : "";
      // Of a page nothing is to be told but that it is not too long: the last one may be empty.
      const whole = { ...response, body: { items } };
      const tooLong = limit !== undefined && (page?.length ?? 0) > limit;
      if (page === undefined || token === "") {
        this.told.push({
          what: tooLong ? "list, a page too long" : "list",
          response: page === undefined ? response : whole,
        });
        return;
      }
    }
  }

  async #watch(resource: Resource, selectors: Selectors, from: "now" | "start" | "all"): Promise<void> {
    const path = resourcePath(resource, this.#place(resource));
    const resourceVersion = from === "now" ? await this.#version(resource) : (this.#start.get(resource.plural) ?? "");
    const query = {
      ...watchParameters,
      ...this.#selection(selectors),
      ...(from === "all" ? fromAll : { resourceVersion }),
    };
    const watch: OpenWatch = { resource, lines: [], ended: undefined, close: () => {} };
    watch.close = this.#transport.stream(
      { method: "GET", path, query },
      {
        onObject: (line) => void watch.lines.push(line as Json),
        onEnd: ({ response, error }) => {
          watch.ended = response ?? (error === undefined ? "closed" : "broken");
        },
      },
    );
    this.watches.push(watch);
    this.told.push({ what: `watch from ${from}`, watch });
    if (from === "all") {
      await this.#until("all objects", () => watch.ended !== undefined || watch.lines.some(isEndOfList));
    }
  }

  async #version(resource: Resource): Promise<string> {
    const query = { limit: "1" };
    const path = resourcePath(resource, this.#place(resource));
    const { body } = await this.#transport.request({ method: "GET", path, query });
    return isJson(body) && isJson(body["metadata"]) ? String(body["metadata"]["resourceVersion"]) : "";
  }

  async #tell(what: string, request: ApiRequest): Promise<unknown> {
    const response = await this.#transport.request(request);
    this.told.push({ what, response });
    const { body } = response;
    const seen = isJson(body) && isJson(body["metadata"]) ? body["metadata"]["resourceVersion"] : undefined;
    if (what !== "list" && typeof seen === "string" && !this.#first.has(request.path))
      this.#first.set(request.path, seen);
    return body;
  }

  #preconditions(path: string, present: Json | undefined, { uid, resourceVersion }: Preconditions): Json {
    const metadata = isJson(present?.["metadata"]) ? present["metadata"] : {};
    return {
      ...(uid !== undefined && { uid: uid === "current" ? (metadata["uid"] ?? wrongUID) : wrongUID }),
      ...(resourceVersion !== undefined && {
        resourceVersion: (resourceVersion === "current" ? metadata["resourceVersion"] : this.#first.get(path)) ?? "1",
      }),
    };
  }

  #creation(resource: Resource, name: string, object: Json): ApiRequest {
    const path = resourcePath(resource, this.#place(resource));
    return { method: "POST", path, query: strict, body: this.#object(resource, name, object) };
  }

  #object(resource: Resource, name: string, object: Json): Json {
    const metadata = { name, ...this.#place(resource), labels: { sequence: this.#sequence } };
    const typed = { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata };
    return mergePatch(typed, object) as Json;
  }

  #place(resource: Resource): { namespace?: string } {
    return kindOf(resource).namespaced ? { namespace } : {};
  }

  #selection({ labelSelector, fieldSelector }: Selectors): { [name: string]: string } {
    const ours = `sequence=${this.#sequence}`;
    return {
      labelSelector: labelSelector === undefined ? ours : `${ours},${labelSelector}`,
      ...(fieldSelector !== undefined && { fieldSelector }),
    };
  }
}

function needsCurrent(operation: ApiOperation): boolean {
  if (operation.verb === "put") return true;
  const { uid, resourceVersion } = "preconditions" in operation ? operation.preconditions : {};
  return uid === "current" || resourceVersion === "current";
}

export function isEndOfList(line: Json): boolean {
  const object = isJson(line["object"]) ? line["object"] : {};
  const metadata = isJson(object["metadata"]) ? object["metadata"] : {};
  const annotations = isJson(metadata["annotations"]) ? metadata["annotations"] : {};
  return line["type"] === "BOOKMARK" && annotations["k8s.io/initial-events-end"] === "true";
}
