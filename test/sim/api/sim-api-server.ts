import { type Resource, resource } from "../../../src/api/names.ts";
import { apiVersionOf } from "../../../src/kube/client/resource-path.ts";
import type { ApiRequest, ApiResponse } from "../../../src/kube/client/transport.ts";
import type { Cancel } from "../../../src/ports.ts";
import { SeededRandom } from "../random.ts";
import type { Scheduler } from "../scheduler.ts";
import type { Admission } from "./admission.ts";
import { ClaimPolicy } from "./claim-policy.ts";
import { type Change, Collection } from "./collection.ts";
import { isJson, overTheWire, type StoredObject } from "./json.ts";
import { kindOf, type Location, locate } from "./kinds.ts";
import { decodeToken, encodeToken, page } from "./pages.ts";
import { Refusal } from "./refusal.ts";
import { selection } from "./selectors.ts";
import { unknownField } from "./unknown-fields.ts";
import { WatchCache, type Watcher } from "./watch-cache.ts";

export interface SimApiServerDeps {
  /** Of what chance decides in the server itself. */
  readonly seed?: number;
  readonly scheduler: Scheduler;
  readonly admission: Admission;
  /** Told of each change, at the moment it is stored. */
  onChange(resource: Resource, change: Change, actor: string): void;
}

/** What is answered of a path that is not served. */
const notServed: ApiResponse = { status: 404, body: "404 page not found\n" };

/** An object as people write it: kind and version are filled in. */
export type Written = { readonly metadata: StoredObject["metadata"] } & { readonly [field: string]: unknown };

/**
 * An API server in memory that behaves as kube-apiserver does for the resources that are used here. Requests are
 * carried out at once; how long they and their answers travel, and what gets lost, is the transport's.
 */
export class SimApiServer {
  /** Who writes now: a process by its name, or people. */
  actor = "person";
  readonly #deps: SimApiServerDeps;
  readonly #collections = new Map<string, { readonly objects: Collection; readonly cache: WatchCache }>();
  readonly #claimPolicy: ClaimPolicy;
  readonly #locations = new Map<string, Location | undefined>();
  #version = 1000;
  #uids = 0;

  constructor(deps: SimApiServerDeps) {
    this.#deps = deps;
    this.#claimPolicy = new ClaimPolicy(deps.scheduler, new SeededRandom(deps.seed ?? 1, "policy"));
  }

  /** Carries out one request of a process. Reads are of the newest state. */
  handle(request: ApiRequest, actor: string): ApiResponse {
    const at = this.#locate(request.path);
    if (at === undefined) return notServed;
    this.actor = actor;
    try {
      return this.#handle(request, at);
    } catch (error) {
      if (error instanceof Refusal) return error.response;
      throw error;
    } finally {
      this.actor = "person";
    }
  }

  /** Opens a watch. Lines go to `watcher` as they come up. */
  watch(request: ApiRequest, watcher: Omit<Watcher, "matches">, lagMs = 0): Cancel {
    const at = this.#locate(request.path);
    if (at === undefined) {
      watcher.end({ response: notServed });
      return () => {};
    }
    const query = request.query ?? {};
    const matches = selection(at.namespace, query);
    return this.#entry(at.kind.resource).cache.open({ ...watcher, matches }, query, lagMs);
  }

  /** Forgets old changes: watches that begin before now get 410. */
  compact(): void {
    for (const { cache } of this.#collections.values()) cache.compact(this.#version);
  }

  /** Every watch of a resource, or of all, ends. */
  breakWatches(how: Parameters<Watcher["end"]>[0], of?: Resource): void {
    for (const [plural, { cache }] of this.#collections)
      if (of === undefined || of.plural === plural) cache.breakAll(how);
  }

  /** Runs what somebody does, who is neither a process with a connection of its own nor one of the people. */
  as<T>(actor: string, action: () => T): T {
    this.actor = actor;
    try {
      return action();
    } finally {
      this.actor = "person";
    }
  }

  // What people do: at once, and an error if it is refused.

  create(of: Resource, object: Written): StoredObject {
    return this.#entry(of).objects.create(this.#typed(of, object), object.metadata.namespace);
  }

  patch(
    of: Resource,
    name: string,
    patch: object,
    options: { namespace?: string; subresource?: "status" } = {},
  ): StoredObject {
    const { namespace, subresource = "" } = options;
    return this.#entry(of).objects.patch(name, namespace, overTheWire(patch), subresource);
  }

  delete(of: Resource, name: string, namespace?: string): void {
    this.#entry(of).objects.delete(name, namespace, undefined);
  }

  get(of: Resource, name: string, namespace?: string): StoredObject | undefined {
    return this.#entry(of).objects.objects.get(namespace === undefined ? name : `${namespace}/${name}`);
  }

  list(of: Resource): StoredObject[] {
    return [...this.#entry(of).objects.objects.values()];
  }

  #locate(path: string): Location | undefined {
    if (!this.#locations.has(path)) this.#locations.set(path, locate(path));
    return this.#locations.get(path);
  }

  #handle(request: ApiRequest, at: Location): ApiResponse {
    const { objects } = this.#entry(at.kind.resource);
    const { namespace, name, subresource } = at;
    const body = request.body === undefined ? null : overTheWire(request.body);
    switch (request.method) {
      case "GET":
        return {
          status: 200,
          body: name === undefined ? this.#list(at, request.query ?? {}) : objects.get(name, namespace),
        };
      case "POST":
        this.#refuseUnknown(request, at, 400, body);
        return {
          status: 201,
          body: objects.create(body as StoredObject, namespace, request.query?.["dryRun"] === "All"),
        };
      case "PUT": {
        this.#refuseUnknown(request, at, 400, body);
        const { object, created } = objects.replace(name ?? "", namespace, body as StoredObject, subresource);
        return { status: created ? 201 : 200, body: object };
      }
      case "PATCH":
        if (request.contentType !== "application/merge-patch+json")
          throw new Refusal(415, "UnsupportedMediaType", "only merge patches");
        objects.get(name ?? "", namespace);
        this.#refuseUnknown(request, at, 422, body);
        return { status: 200, body: objects.patch(name ?? "", namespace, body, subresource) };
      case "DELETE": {
        const result = objects.delete(name ?? "", namespace, body);
        if (result.held) return { status: 200, body: result.object };
        const details = { name, kind: at.kind.resource.plural, uid: result.uid };
        return { status: 200, body: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details } };
      }
    }
  }

  /**
   * Strict field validation: a body that cannot be decoded is a bad request, a patch that makes such an object invalid.
   */
  #refuseUnknown(request: ApiRequest, at: Location, status: 400 | 422, body: unknown): void {
    if (!at.kind.custom || request.query?.["fieldValidation"] !== "Strict" || !isJson(body)) return;
    const unknown = unknownField(at.kind.resource.kind, body);
    if (unknown === undefined) return;
    const reason = status === 400 ? "BadRequest" : "Invalid";
    throw new Refusal(status, reason, `strict decoding error: unknown field ${JSON.stringify(unknown.slice(1))}`);
  }

  #list(at: Location, query: { readonly [name: string]: string }) {
    const matches = selection(at.namespace, query);
    const { objects, cache } = this.#entry(at.kind.resource);
    const token = query["continue"] === undefined ? undefined : decodeToken(query["continue"]);
    if (query["continue"] !== undefined && token === undefined)
      throw new Refusal(400, "BadRequest", "invalid continue token");
    const version = token?.version ?? this.#version;
    const state = version === this.#version ? objects.objects : cache.stateAt(version);
    if (state === undefined) throw new Refusal(410, "Expired", "the provided continue parameter is too old");
    const { items, more, last } = page(state, matches, token?.after ?? "", Number(query["limit"] ?? 0));
    const next = more ? { continue: encodeToken({ version, after: last }) } : {};
    const { resource } = at.kind;
    const metadata = { resourceVersion: String(version), ...next };
    return { kind: `${resource.kind}List`, apiVersion: apiVersionOf(resource), metadata, items };
  }

  #entry(of: Resource) {
    const known = this.#collections.get(of.plural);
    if (known !== undefined) return known;
    const kind = kindOf(of);
    const { scheduler, onChange } = this.#deps;
    const cache = new WatchCache({ scheduler, kind, version: () => this.#version });
    const objects = new Collection({
      kind,
      admission: this.#deps.admission,
      nextVersion: () => ++this.#version,
      newUID: () => `00000000-0000-4000-9000-${String(++this.#uids).padStart(12, "0")}`,
      timestamp: () => `${new Date(scheduler.clock.now()).toISOString().slice(0, 19)}Z`,
      onChange: (change) => {
        if (of.plural === resource.claims.plural) this.#claimPolicy.changed(change);
        onChange(of, change, this.actor);
        cache.changed(change);
      },
      onCreate: (object, namespace) => {
        if (of.plural === resource.pods.plural) this.#claimPolicy.admitPod(object, namespace);
      },
    });
    const made = { objects, cache };
    this.#collections.set(of.plural, made);
    return made;
  }

  #typed(of: Resource, object: Written): StoredObject {
    const value = overTheWire({
      apiVersion: of.group === "" ? of.version : `${of.group}/${of.version}`,
      kind: of.kind,
      ...object,
    });
    if (!isJson(value)) throw new RangeError("not an object");
    return value as StoredObject;
  }
}
