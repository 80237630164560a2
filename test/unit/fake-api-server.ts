import { parsePath } from "../../hack/lib/api-path.ts";
import { fakeAnswer } from "../../hack/lib/fake-answer.ts";
import type { ApiRequest, ApiResponse, StreamHandlers, Transport } from "../../src/kube/client/transport.ts";
import { TransportError } from "../../src/kube/client/transport.ts";
import type { Cancel, Timers } from "../../src/ports.ts";
import type { FakeObject } from "./fake-api-objects.ts";
import { copy, createFakeObjects, hasLabel, keyOf, refusal } from "./fake-api-objects.ts";

/** One write as it arrived, in order. */
interface FakeWrite {
  readonly verb: "create" | "update" | "patch" | "delete";
  readonly plural: string;
  readonly name: string;
  readonly subresource: string;
  readonly status: number;
  readonly body: unknown;
}

/**
 * An API server in memory, with what the code under test relies on: resourceVersions that grow, UIDs, generations that
 * a change of the spec and a deletion raise, preconditions, finalizers, status as a subresource, WatchList.
 * Of the CRDs' rules it has those on what of an intent may change. No other admission, no schema, no defaults.
 */
export interface FakeApiServer extends Transport {
  readonly writes: FakeWrite[];
  /** Returns an error to fail the request with: before it is applied, or after (the answer is lost). */
  fault: (request: ApiRequest) => { when: "before" | "after" } | FakeAnswer | undefined;
  /** Refuses sendInitialEvents, as servers before 1.32 do. */
  refuseWatchList: boolean;
  objects(plural: string): FakeObject[];
  object(plural: string, name: string): FakeObject | undefined;
  /** Writes as another client would; throws if it is refused. */
  apply(plural: string, object: FakeObject): FakeObject;
  patch(plural: string, name: string, patch: object, subresource?: "status"): FakeObject;
  remove(plural: string, name: string): void;
  /** Ends every watch: as the server's time limit does, or with an error, or saying that all versions are expired. */
  breakWatches(how: "close" | "error" | "expire"): void;
  /** A bookmark on every watch, as real servers send one a minute. */
  bookmark(): void;
  /** Takes a backup of etcd; the result restores it, and the versions begin again where they were. */
  backup(): () => void;
  readonly openWatches: number;
}

/** An answer that is not the one asked for: a refusal of the server, or whatever body something between gives. */
interface FakeAnswer {
  readonly status: number;
  readonly message?: string;
  readonly body?: unknown;
}

interface Watcher {
  plural: string;
  namespace: string | undefined;
  /** Only newer changes are sent, as real servers do. */
  from: number;
  handlers: StreamHandlers;
  cancel: Cancel;
  ended: boolean;
}

export function createFakeApiServer(timers: Timers): FakeApiServer {
  const log: { plural: string; type: string; object: FakeObject; at: number }[] = [];
  const watchers = new Set<Watcher>();
  const writes: FakeWrite[] = [];
  const { collection, create, change, remove, version, bump, snapshot } = createFakeObjects(publish);
  let oldest = 0;

  function deliver(watcher: Watcher, event: unknown): void {
    timers.after(0, () => {
      if (!watcher.ended) watcher.handlers.onObject(copy(event));
    });
  }

  function publish(plural: string, type: string, object: FakeObject, at: number): void {
    log.push({ plural, type, object, at });
    for (const watcher of watchers) {
      if (watcher.plural === plural && at > watcher.from && inNamespace(watcher, object)) {
        deliver(watcher, { type, object });
      }
    }
  }

  function inNamespace(watcher: { namespace: string | undefined }, object: FakeObject): boolean {
    return watcher.namespace === undefined || watcher.namespace === object.metadata.namespace;
  }

  function handle(request: ApiRequest): ApiResponse {
    const at = locate(request.path);
    const { plural, namespace, name, subresource } = at;
    if (request.method === "GET" && name === undefined) return listPage(plural, namespace, request.query ?? {});
    const key = name === undefined ? "" : keyOf(name, namespace);
    const before = collection(plural).get(key);
    if (request.method === "GET") {
      return before === undefined ? missing(plural, key) : { status: 200, body: copy(before) };
    }
    const verb = ({ POST: "create", PUT: "update", PATCH: "patch", DELETE: "delete" } as const)[request.method];
    const sent = request.body as FakeObject;
    let result: ApiResponse;
    if (verb === "create") result = create(plural, namespace, sent);
    else if (before === undefined) result = missing(plural, key);
    else if (verb === "delete") result = remove(plural, before, request.body);
    else result = change(plural, before, sent, subresource, verb);
    writes.push({
      verb,
      plural,
      name: name ?? sent.metadata.name,
      subresource,
      status: result.status,
      body: copy(request.body),
    });
    return result;
  }

  function missing(plural: string, key: string): ApiResponse {
    return refusal(404, "NotFound", `${plural} "${key}" not found`);
  }

  function listPage(plural: string, namespace: string | undefined, query: { readonly [name: string]: string }) {
    const found = [...collection(plural).values()].filter((o) => inNamespace({ namespace }, o));
    const all = found.filter((o) => hasLabel(o, query["labelSelector"]));
    const limit = Number(query["limit"] ?? all.length + 1);
    const [from = "0", at = String(version())] = (query["continue"] ?? "").split("@").filter((part) => part !== "");
    if (query["continue"] !== undefined && Number(at) < oldest) return refusal(410, "Expired", "the token is too old");
    const items = all.slice(Number(from), Number(from) + limit);
    const next = Number(from) + limit;
    const metadata = { resourceVersion: at, ...(next < all.length && { continue: `${next}@${at}` }) };
    return { status: 200, body: copy({ metadata, items }) };
  }

  function openWatch(request: ApiRequest, watcher: Watcher): void {
    const { namespace, plural } = watcher;
    const query = request.query ?? {};
    if (query["sendInitialEvents"] !== undefined && server.refuseWatchList) {
      end(watcher, { response: refusal(422, "Invalid", "sendInitialEvents: Forbidden") });
      return;
    }
    const from = query["resourceVersion"];
    if (from !== undefined && Number(from) < oldest) {
      end(watcher, { response: refusal(410, "Expired", "too old resource version") });
      return;
    }
    watcher.handlers.onOpen?.();
    watchers.add(watcher);
    watcher.from = Number(from ?? 0);
    if (query["sendInitialEvents"] === "true") {
      for (const object of collection(plural).values()) {
        if (inNamespace({ namespace }, object)) deliver(watcher, { type: "ADDED", object: copy(object) });
      }
      const metadata = { resourceVersion: String(version()), annotations: { "k8s.io/initial-events-end": "true" } };
      deliver(watcher, { type: "BOOKMARK", object: { metadata } });
      return;
    }
    for (const entry of log) {
      if (entry.plural === plural && entry.at > Number(from ?? 0) && inNamespace({ namespace }, entry.object)) {
        deliver(watcher, { type: entry.type, object: entry.object });
      }
    }
  }

  function end(watcher: Watcher, how: Parameters<StreamHandlers["onEnd"]>[0]): void {
    if (watcher.ended) return;
    watcher.ended = true;
    watchers.delete(watcher);
    watcher.handlers.onEnd(how);
  }

  function checked(response: ApiResponse): FakeObject {
    if (response.status > 299) throw new Error(JSON.stringify(response.body));
    return response.body as FakeObject;
  }

  const server: FakeApiServer = {
    writes,
    fault: () => undefined,
    refuseWatchList: false,
    request(request) {
      return new Promise((resolve, reject) => {
        timers.after(1, () => {
          const fault = server.fault(request);
          const lost = new TransportError(`${request.method} ${request.path}: planned fault`);
          if (fault && "status" in fault) resolve(planned(fault));
          else if (fault?.when === "before") reject(lost);
          else {
            const response = fakeAnswer(request.path, handle(copy(request)));
            if (fault?.when === "after") reject(lost);
            else resolve(response);
          }
        });
      });
    },
    stream(request, handlers) {
      const { plural, namespace } = locate(request.path);
      const watcher: Watcher = { plural, namespace, from: 0, handlers, cancel: () => {}, ended: false };
      watcher.cancel = timers.after(1, () => {
        const fault = server.fault(request);
        if (fault !== undefined && "status" in fault) {
          end(watcher, { response: planned(fault) });
        } else if (fault !== undefined) end(watcher, { error: new TransportError("planned fault") });
        else openWatch(copy(request), watcher);
      });
      return () => {
        watcher.ended = true;
        watcher.cancel();
        watchers.delete(watcher);
      };
    },
    objects: (plural) => [...collection(plural).values()].map(copy),
    object: (plural, name) => copy(collection(plural).get(name)),
    apply(plural, object) {
      const before = collection(plural).get(keyOf(object.metadata.name, object.metadata.namespace));
      if (before === undefined) {
        const created = checked(create(plural, object.metadata.namespace, object));
        if (object.status === undefined || plural === "nodes") return created;
        const { name, namespace } = created.metadata;
        return server.patch(plural, keyOf(name, namespace), { status: object.status }, "status");
      }
      return checked(
        change(plural, before, { ...object, metadata: { ...before.metadata, ...object.metadata } }, "", "update"),
      );
    },
    patch(plural, name, patch, subresource) {
      const before = collection(plural).get(name);
      if (before === undefined) throw new Error(`${plural} ${name} not found`);
      const sent = { metadata: {}, ...patch } as FakeObject;
      return checked(change(plural, before, sent, subresource ?? "", "patch"));
    },
    remove(plural, name) {
      const before = collection(plural).get(name);
      if (before === undefined) throw new Error(`${plural} ${name} not found`);
      checked(remove(plural, before, {}));
    },
    breakWatches(how) {
      if (how === "expire") oldest = bump();
      for (const watcher of [...watchers]) {
        if (how === "close") end(watcher, {});
        else if (how === "error") end(watcher, { error: new TransportError("connection reset") });
        else watcher.handlers.onObject({ type: "ERROR", object: { kind: "Status", code: 410, message: "too old" } });
      }
    },
    bookmark() {
      for (const watcher of watchers) {
        deliver(watcher, { type: "BOOKMARK", object: { metadata: { resourceVersion: String(version()) } } });
      }
    },
    backup() {
      const restore = snapshot();
      return () => {
        restore();
        log.splice(0, log.length, ...log.filter(({ at }) => at <= version()));
      };
    },
    get openWatches() {
      return watchers.size;
    },
  };
  return server;
}

function planned({ status, message = "planned fault", body }: FakeAnswer): ApiResponse {
  return body === undefined ? refusal(status, "Planned", message) : { status, body };
}

function locate(path: string) {
  const at = parsePath(path);
  if (at === undefined) throw new Error(`FakeApiServer does not know ${path}`);
  return at;
}
