import type { KubeObject } from "../../api/meta.ts";
import type { Resource } from "../../api/names.ts";
import { arrayIn, isRecord, recordIn, stringIn } from "../json.ts";
import { ApiError, apiErrorOf, isExpired, isNotFound } from "./api-error.ts";
import { apiVersionOf, resourcePath } from "./resource-path.ts";
import { AnswerTooLargeError, type ApiRequest, type Transport, TransportError } from "./transport.ts";

/**
 * An object to write to. With uid and resourceVersion the write is refused unless both are still those: with 409, or
 * where another object has taken the name with 422, as the API server takes that for a change of the UID.
 */
export interface ObjectRef {
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
}

/** Which objects a list returns. Without a namespace: those of all namespaces. */
export interface ListOptions extends ReadOptions {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

/** A list, and the resourceVersion that a watch can begin at. */
interface ListResult<T> {
  readonly items: T[];
  readonly resourceVersion: string;
}

/** Options of one read. */
export interface ReadOptions {
  /** User that is impersonated; the caller itself if not given. */
  readonly asUser?: string | undefined;
}

/** Options of one write. */
interface WriteOptions {
  /** Milliseconds until the write is given up; it may still be applied. */
  readonly timeoutMs?: number | undefined;
  /** The server says what it would do, through all admission, and does nothing. */
  readonly dryRun?: boolean | undefined;
}

/**
 * The API server's verbs. Every method rejects with ApiError if the server refuses and with TransportError if there is
 * no answer, or none of an API server; then a write may or may not have been applied. Writes name the field manager and
 * are validated strictly, so that a misspelt field is an error and not silence. Reads are quorum reads: no
 * resourceVersion is ever sent.
 */
export interface KubeClient {
  /** undefined if there is no such object. */
  get<T extends KubeObject>(resource: Resource, ref: ObjectRef, options?: ReadOptions): Promise<T | undefined>;
  /**
   * One consistent list, read in pages, smaller ones where objects are large. Starts again if the server has forgotten
   * the state that the pages are of.
   * `project` says what is kept of an object: then no more than one page of whole objects is held.
   */
  list<T extends KubeObject, P = T>(
    resource: Resource,
    options?: ListOptions,
    project?: (object: T) => P,
  ): Promise<ListResult<P>>;
  create<T extends KubeObject>(resource: Resource, object: T, options?: WriteOptions): Promise<T>;
  replace<T extends KubeObject>(resource: Resource, object: T, options?: WriteOptions): Promise<T>;
  mergePatch<T extends KubeObject>(
    resource: Resource,
    ref: ObjectRef,
    patch: object,
    options?: WriteOptions,
  ): Promise<T>;
  /** `status` is a merge patch of the status alone. */
  mergePatchStatus<T extends KubeObject>(
    resource: Resource,
    ref: ObjectRef,
    status: object,
    options?: WriteOptions,
  ): Promise<T>;
  /**
   * Deletes, with the preconditions that `ref` carries. Returns the object if finalizers still hold it, undefined if
   * it is gone or was not there.
   */
  delete<T extends KubeObject>(resource: Resource, ref: ObjectRef, options?: WriteOptions): Promise<T | undefined>;
}

/** Dependencies of the API client. */
export interface KubeClientDeps {
  readonly transport: Transport;
  readonly fieldManager: string;
  /** Called before each write; throws if there must be none (not the leader), and may shorten its time. */
  readonly beforeWrite?: () => WriteOptions | undefined;
  /** Told of each write's outcome. */
  readonly onWrite?: (resource: Resource, verb: WriteVerb, result: "success" | "refused" | "no-answer") => void;
}

/** Verbs of the API that change something. */
export type WriteVerb = "create" | "update" | "patch" | "delete";

/** As client-go: large enough to be few requests, small enough for the server's memory. */
const pageSize = 500;
const maxRestarts = 3;

/**
 * A client of the API server. Writes are validated strictly (fieldValidation=Strict), so that an unknown field is an
 * error.
 */
export function createKubeClient(deps: KubeClientDeps): KubeClient {
  const { transport, fieldManager } = deps;
  const query = { fieldManager, fieldValidation: "Strict" };

  async function read(request: ApiRequest, isAnswer: (body: unknown) => boolean = isObject): Promise<unknown> {
    const answer = await transport.request(request);
    const what = `${request.method} ${request.path}`;
    if (answer.status < 200 || answer.status > 299) throw apiErrorOf(answer, what);
    if (isAnswer(answer.body)) return answer.body;
    throw new TransportError(`${what}: ${answer.status}, with a body that no API server sends`);
  }

  async function write(resource: Resource, verb: WriteVerb, request: ApiRequest, options: WriteOptions = {}) {
    const timeoutMs = deps.beforeWrite?.()?.timeoutMs ?? options.timeoutMs;
    try {
      const asked = timeoutMs === undefined ? request : { ...request, timeoutMs };
      const body = await read(asked, verb === "delete" ? isOfKind : isObject);
      deps.onWrite?.(resource, verb, "success");
      return body;
    } catch (error) {
      deps.onWrite?.(resource, verb, error instanceof ApiError ? "refused" : "no-answer");
      throw error;
    }
  }

  function put<T extends KubeObject>(r: Resource, object: T, options?: WriteOptions) {
    const path = resourcePath(r, locationOf(object.metadata));
    return write(r, "update", { method: "PUT", path, query, body: withType(r, object) }, options) as Promise<T>;
  }

  function patch<T>(r: Resource, ref: ObjectRef, body: object, subresource?: "status", options?: WriteOptions) {
    const path = resourcePath(r, { namespace: ref.namespace, name: ref.name, subresource });
    const contentType = "application/merge-patch+json" as const;
    const withPreconditions = { ...body, metadata: { ...recordIn(body, "metadata"), ...preconditions(ref) } };
    const request = { method: "PATCH", path, query, contentType, body: withPreconditions } as const;
    return write(r, "patch", request, options) as Promise<T>;
  }

  async function listOnce<P>(
    resource: Resource,
    options: ListOptions,
    project: (object: unknown) => P,
  ): Promise<ListResult<P>> {
    const items: P[] = [];
    const path = resourcePath(resource, { namespace: options.namespace });
    const selection = {
      ...(options.labelSelector !== undefined && { labelSelector: options.labelSelector }),
      ...(options.fieldSelector !== undefined && { fieldSelector: options.fieldSelector }),
    };
    let limit = pageSize;
    for (let page: object = {}; ; ) {
      const asked = { limit: String(limit), ...selection, ...page };
      let body: unknown;
      try {
        body = await read({ method: "GET", path, query: asked, ...asUserOf(options) }, isList);
      } catch (error) {
        if (!isTooLarge(error) || limit === 1) throw error;
        limit = Math.ceil(limit / 8);
        continue;
      }
      for (const object of arrayIn(body, "items")) items.push(project(object));
      const metadata = recordIn(body, "metadata");
      const token = stringIn(metadata, "continue") ?? "";
      if (token === "") return { items, resourceVersion: stringIn(metadata, "resourceVersion") ?? "" };
      page = { continue: token };
      limit = Math.min(pageSize, limit * 2); // large objects stand together, often those of one node
    }
  }

  return {
    async get<T extends KubeObject>(resource: Resource, ref: ObjectRef, options: ReadOptions = {}) {
      try {
        const path = resourcePath(resource, locationOf(ref));
        return (await read({ method: "GET", path, ...asUserOf(options) })) as T;
      } catch (error) {
        if (isNotFound(error)) return undefined;
        throw error;
      }
    },

    async list<T extends KubeObject, P = T>(
      resource: Resource,
      options: ListOptions = {},
      project: (object: T) => P = (object) => object as unknown as P,
    ) {
      for (let restarts = 0; ; restarts += 1) {
        try {
          return await listOnce(resource, options, (object) => project(object as T));
        } catch (error) {
          if (!isExpired(error) || restarts >= maxRestarts) throw error;
        }
      }
    },

    create: <T extends KubeObject>(r: Resource, object: T, options?: WriteOptions) => {
      const path = resourcePath(r, { namespace: object.metadata.namespace });
      const how = options?.dryRun === true ? { ...query, dryRun: "All" } : query;
      return write(r, "create", { method: "POST", path, query: how, body: withType(r, object) }, options) as Promise<T>;
    },
    replace: put,
    mergePatch: (r, ref, body, options) => patch(r, ref, body, undefined, options),
    mergePatchStatus: (r, ref, status, options) => patch(r, ref, { status }, "status", options),

    async delete<T extends KubeObject>(r: Resource, ref: ObjectRef, options?: WriteOptions) {
      const body = { apiVersion: "v1", kind: "DeleteOptions", preconditions: preconditions(ref) };
      const request = { method: "DELETE", path: resourcePath(r, locationOf(ref)), body } as const;
      try {
        const answer = await write(r, "delete", request, options);
        return stringIn(answer, "kind") === r.kind ? (answer as T) : undefined;
      } catch (error) {
        if (isNotFound(error)) return undefined;
        throw error;
      }
    },
  };
}

function isTooLarge(error: unknown): boolean {
  return error instanceof TransportError && error.cause instanceof AnswerTooLargeError;
}

/**
 * A load balancer may answer 200 with a page of its own. Taken for a list that would be one without objects: nothing
 * would be attached, and no pod would use a claim.
 */
function isList(body: unknown): boolean {
  return isRecord(body) && (Array.isArray(body["items"]) || body["items"] === null);
}

/** A Status, or the object that finalizers hold. */
function isOfKind(body: unknown): boolean {
  return stringIn(body, "kind") !== undefined;
}

function isObject(body: unknown): boolean {
  return recordIn(body, "metadata") !== undefined;
}

function asUserOf({ asUser }: ReadOptions): { readonly asUser?: string } {
  return asUser === undefined ? {} : { asUser };
}

function locationOf(ref: ObjectRef) {
  return { namespace: ref.namespace, name: ref.name };
}

function preconditions(ref: ObjectRef) {
  return {
    ...(ref.uid !== undefined && { uid: ref.uid }),
    ...(ref.resourceVersion !== undefined && { resourceVersion: ref.resourceVersion }),
  };
}

function withType<T extends KubeObject>(resource: Resource, object: T): T {
  return { ...object, apiVersion: apiVersionOf(resource), kind: resource.kind };
}
