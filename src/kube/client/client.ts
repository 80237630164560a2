import type { KubeObject } from "../../api/meta.ts";
import type { Resource } from "../../api/names.ts";
import { arrayIn, isRecord, recordIn, stringIn } from "../json.ts";
import { ApiError, bodyOf, foreignAnswer, noneIfNotFound } from "./api-error.ts";
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

  async function read(request: ApiRequest, of: Resource, kind = of.kind): Promise<unknown> {
    const body = await bodyOf(transport, request);
    const isDeleted = request.method === "DELETE" && stringIn(body, "status") === "Success";
    if (isDeleted || isAnswer(body, of, kind)) return body;
    throw foreignAnswer(`${request.method} ${request.path}`, kind);
  }

  async function write(resource: Resource, verb: WriteVerb, request: ApiRequest, options: WriteOptions = {}) {
    const timeoutMs = deps.beforeWrite?.()?.timeoutMs ?? options.timeoutMs;
    try {
      const asked = timeoutMs === undefined ? request : { ...request, timeoutMs };
      const body = await read(asked, resource);
      deps.onWrite?.(resource, verb, "success");
      return body;
    } catch (error) {
      deps.onWrite?.(resource, verb, error instanceof ApiError ? "refused" : "no-answer");
      throw error;
    }
  }

  function put<T extends KubeObject>(r: Resource, object: T, options?: WriteOptions) {
    const path = resourcePath(r, object.metadata);
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
    const selection = selectorsOf(options);
    let limit = pageSize;
    for (let page: object = {}; ; ) {
      const asked = { limit: String(limit), ...selection, ...page };
      let body: unknown;
      try {
        const request = { method: "GET", path, query: asked, asUser: options.asUser } as const;
        body = await read(request, resource, `${resource.kind}List`);
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
    async get<T extends KubeObject>(resource: Resource, ref: ObjectRef, { asUser }: ReadOptions = {}) {
      const request = { method: "GET", path: resourcePath(resource, ref), asUser } as const;
      return read(request, resource).catch(noneIfNotFound) as Promise<T | undefined>;
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
          const isExpired = error instanceof ApiError && error.status === 410;
          if (!isExpired || restarts >= maxRestarts) throw error;
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
      const request = { method: "DELETE", path: resourcePath(r, ref), body } as const;
      const answer = await write(r, "delete", request, options).catch(noneIfNotFound);
      return stringIn(answer, "kind") === r.kind ? (answer as T) : undefined;
    },
  };
}

function isTooLarge(error: unknown): boolean {
  return error instanceof TransportError && error.cause instanceof AnswerTooLargeError;
}

/**
 * Whether that is an object of the resource, or the list of them that `kind` names. A load balancer may answer 200 with
 * a page of its own. Taken for a list that would be one without objects: nothing would be attached, and no pod would
 * use a claim.
 */
function isAnswer(body: unknown, of: Resource, kind: string): boolean {
  const metadata = recordIn(body, "metadata");
  if (!isRecord(body) || metadata === undefined) return false;
  if (body["kind"] !== kind || body["apiVersion"] !== apiVersionOf(of)) return false;
  if (kind === of.kind) return true;
  const { items } = body; // null, as Go writes a list without any
  return (Array.isArray(items) || items === null) && (stringIn(metadata, "resourceVersion") ?? "") !== "";
}

/** The query by which those objects are selected. */
export function selectorsOf({ labelSelector, fieldSelector }: ListOptions) {
  const byLabel = labelSelector !== undefined && { labelSelector };
  return { ...byLabel, ...(fieldSelector !== undefined && { fieldSelector }) };
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
