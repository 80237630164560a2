// A cluster as the controller's caches have it, without an API server: for tests of the page, and for its pictures.
import type { KubeObject } from "../../../src/api/meta.ts";
import { createAgentLeases } from "../../../src/controller/agents/agent-leases.ts";
import { storesOf, type Watches } from "../../../src/controller/cache/watches.ts";
import { createGatherer } from "../../../src/controller/intents/gather.ts";
import { projectIntent, projectNode, projectSet, projectState } from "../../../src/controller/model/projections.ts";
import type { ClusterView } from "../../../src/controller/page/page.ts";
import { createKubeClient } from "../../../src/kube/client/client.ts";
import type { ApiRequest, ApiResponse } from "../../../src/kube/client/transport.ts";
import { projectLease } from "../../../src/kube/leases/lease.ts";
import { createObjectStore, type MutableStore } from "../../../src/kube/watch/object-store.ts";
import type { Reflector } from "../../../src/kube/watch/reflector.ts";
import type { System } from "../../../src/ports.ts";
import { fakeAnswer } from "../fake-answer.ts";

/** An object as the API server has it. */
export type Raw = KubeObject & { readonly [key: string]: unknown };

const kinds = {
  nodevolumesets: "sets",
  nodes: "nodes",
  nodevolumeintents: "intents",
  nodevolumestates: "states",
  leases: "leases",
} as const;
type Plural = keyof typeof kinds;

export interface FakeView extends ClusterView {
  /** As the API server's watch would bring it: a new one, or a change. */
  put(plural: Plural, raw: Raw): void;
  remove(plural: Plural, name: string): void;
  get(plural: Plural, name: string): Raw | undefined;
  /** Whether the API server answers, and its watches are open. */
  connected(is: boolean): void;
  /** Reads that came to the API server. */
  readonly reads: string[];
}

export function createFakeView(system: System): FakeView {
  const raws = new Map<string, Raw>();
  const reads: string[] = [];
  let version = 100;
  let away = false;
  const release: (() => void)[] = [];

  function fakeReflector<T extends KubeObject>(project: (raw: unknown) => T | undefined) {
    const store: MutableStore<T> = createObjectStore<T>(system);
    for (const _ of store.replaceAll([], "1")) {
      // nothing is there yet
    }
    store.setConnected(true);
    const none = () => undefined;
    const reflector: Reflector<T> = {
      ...{ store, start: none, stop: none, nudge: none, upsertIfNewer: none, notSynced: none },
      synced: () => Promise.resolve(),
      resync: () => Promise.resolve(),
    };
    return { reflector, store, project };
  }

  const parts = {
    sets: fakeReflector(projectSet),
    nodes: fakeReflector(projectNode),
    intents: fakeReflector(projectIntent),
    states: fakeReflector(projectState),
    leases: fakeReflector(projectLease),
  };
  const watches: Watches = {
    sets: parts.sets.reflector,
    nodes: parts.nodes.reflector,
    intents: parts.intents.reflector,
    states: parts.states.reflector,
    leases: parts.leases.reflector,
  };
  const stores = storesOf(watches);

  async function request({ method, path }: ApiRequest): Promise<ApiResponse> {
    if (method !== "GET") throw new Error(`the page writes: ${method} ${path}`);
    reads.push(path);
    if (away) await new Promise<void>((resolve) => release.push(resolve));
    const [plural = "", name = ""] = path.split("/").slice(-2);
    const body = raws.get(`${plural}/${name}`);
    return fakeAnswer(path, body === undefined ? { status: 404, body: { reason: "NotFound" } } : { status: 200, body });
  }

  const client = createKubeClient({ transport: { request, stream: () => () => undefined }, fieldManager: "" });
  return {
    watches,
    client,
    gatherer: createGatherer(
      stores,
      { allowedPrefixes: ["/mnt/nodevolume"], podsOf: () => undefined, consent: () => undefined },
      system,
    ),
    leases: createAgentLeases({ ...stores, clock: system.clock, namespace: "nodevolume-system" }),
    reads,
    put(plural, raw) {
      version += 1;
      const object = { ...raw, metadata: { ...raw.metadata, resourceVersion: String(version) } };
      raws.set(`${plural}/${raw.metadata.name}`, object);
      const { store, project } = parts[kinds[plural]] as {
        store: MutableStore<KubeObject>;
        project: (raw: unknown) => KubeObject;
      };
      store.upsert(project(object));
    },
    remove(plural, name) {
      version += 1;
      const object = raws.get(`${plural}/${name}`);
      raws.delete(`${plural}/${name}`);
      const store = parts[kinds[plural]].store as MutableStore<KubeObject>;
      if (object !== undefined) store.delete({ metadata: { ...object.metadata, resourceVersion: String(version) } });
    },
    get: (plural, name) => raws.get(`${plural}/${name}`),
    connected(is) {
      away = !is;
      for (const { store } of Object.values(parts)) store.setConnected(is);
      if (is) for (const go of release.splice(0)) go();
    },
  };
}
