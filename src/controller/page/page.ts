import { digest } from "../../api/digest.ts";
import { resource, systemNamespace } from "../../api/names.ts";
import type { NodeVolumeIntent, NodeVolumeState } from "../../api/types.gen.ts";
import type { AgentSeen, Facts } from "../../explain/facts.ts";
import type { KubeClient } from "../../kube/client/client.ts";
import { leaseValidityAt } from "../../kube/leases/lease.ts";
import type { Cancel, System } from "../../ports.ts";
import { type AgentLeases, agentState } from "../agents/agent-leases.ts";
import { allOf, type Watches } from "../cache/watches.ts";
import type { Gatherer } from "../intents/gather.ts";
import type { NodeInfo } from "../model/projections.ts";
import type { Found, NodeDetails, VolumeDetails } from "./details.ts";
import { createFeed, type Feed } from "./feed.ts";
import { findVolumes, type Search } from "./find.ts";
import { createLateAgents } from "./late-agents.ts";
import { createLiveRead } from "./live-read.ts";
import { nodeDetails } from "./node-details.ts";
import { inPeoplesOrder, overviewOf } from "./overview-of.ts";
import { subscribeTo } from "./shown-changes.ts";
import { volumeDetails } from "./volume-details.ts";

/** What the controller knows, for those who only look. */
export interface ClusterView {
  readonly watches: Watches;
  readonly gatherer: Gatherer;
  readonly leases: AgentLeases;
  /** Nothing is written with it. */
  readonly client: KubeClient;
}

/** Dependencies of serving the page. It only reads. */
export interface PageDeps {
  readonly system: System;
  readonly view: ClusterView;
  readonly version: string;
}

/** What the page is made of: all of it is read, from the caches, but for one object when somebody asks for it. */
export interface Page extends Feed {
  /** undefined: there is no such intent. */
  volume(name: string): Promise<VolumeDetails | undefined>;
  /** undefined: there is neither such a Node nor anything of ours on it. */
  node(name: string): Promise<NodeDetails | undefined>;
  /** Volumes by what people call them; undefined: as many searches as may be are under way. */
  find(search: Search): Promise<Found | undefined>;
  stop(): void;
}

/** A search looks at every volume. */
const mostSearches = 4;

/** The page of one cluster, from the controller's caches; on replicas that do not lead, too. */
export function createPage({ system, view, version }: PageDeps): Page {
  const { watches, gatherer, leases } = view;
  const readLive = createLiveRead(system.timers, view.client);
  const lease = (node: string) => watches.leases.store.get(node, systemNamespace);
  const known = (node: string) => ({
    node: watches.nodes.store.get(node),
    state: watches.states.store.get(node),
    life: agentState(leases, node),
    renewed: lease(node)?.spec.renewTime,
  });

  function stale(): string | undefined {
    const missing = allOf(watches).flatMap((watch) => watch.notSynced() ?? []);
    if (missing.length > 0) return `not everything has been read yet: ${missing.join("; ")}`;
    const away = allOf(watches).filter(({ store }) => !store.state().connected);
    const [first] = away.map(({ store }) => store.state().since).sort((a, b) => a - b);
    if (first === undefined) return undefined;
    return `the API server does not answer since ${new Date(first).toISOString()}: this is the last known state`;
  }

  /** Sorting takes as long as all else: the names are kept until there are others. */
  let sorted: { readonly key: string; readonly names: readonly string[] } = { key: "", names: [] };
  function nodeNames(): readonly string[] {
    const names = gatherer.nodeNames();
    for (const { metadata, orphans } of watches.states.store.list()) if (orphans) names.add(metadata.name);
    const key = [...names].join("\n");
    if (key !== sorted.key) sorted = { key, names: [...names].sort(inPeoplesOrder.compare) };
    return sorted.names;
  }

  const feed = createFeed({
    system,
    digest,
    *make() {
      late.begin();
      const overview = yield* overviewOf({
        version,
        known(node) {
          late.shown(node);
          return known(node);
        },
        stale: stale(),
        nodes: nodeNames(),
        intents: watches.intents.store.list(),
        sets: [...watches.sets.store.list()],
      });
      late.end();
      return overview;
    },
  });
  const cancels: Cancel[] = subscribeTo(watches, feed.changed);
  const { timers } = system;
  const late = createLateAgents({ timers, leases, store: watches.leases.store, changed: feed.changed });

  /** By our own clock, as far as we have watched its Lease for long enough. */
  function agentSeen(node: string): AgentSeen[] {
    const found = lease(node);
    if (found === undefined) return [];
    const state = agentState(leases, node);
    const known = state === "lost" ? "expired" : state;
    return [
      {
        node,
        lease: known === "unknown" ? leaseValidityAt(found, system.clock.now()).state : known,
        renewed: found.spec.renewTime,
      },
    ];
  }

  /** Facts about some nodes, with all of our volumes on them. */
  function factsAbout(names: readonly string[], states: readonly NodeVolumeState[] = []) {
    const nodes = [...new Set(names)];
    return factsOf({
      ...{ now: system.clock.now(), states },
      nodes: nodes.flatMap((name) => watches.nodes.store.get(name) ?? []),
      agents: nodes.flatMap(agentSeen),
      intents: nodes.flatMap((name) => gatherer.intentsOf(name)),
    });
  }

  let searches = 0;

  return {
    ...feed,
    async find(search) {
      if (searches >= mostSearches) return undefined;
      searches += 1;
      try {
        const steps = findVolumes(watches.intents.store.list(), search);
        let step = steps.next();
        for (; step.done !== true; step = steps.next()) if (system.yielder.over()) await system.yielder.next();
        return step.value;
      } finally {
        searches -= 1;
      }
    },
    async volume(name) {
      const kept = watches.intents.store.get(name);
      if (kept === undefined) return undefined;
      const { object, notRead } = await readLive<NodeVolumeIntent>(resource.intents, name);
      const gone = object === undefined && notRead === undefined;
      const intent = object ?? kept;
      const on = intent.status?.waiting?.on ?? intent.status?.attach?.on;
      const other = on?.kind === "Node" ? on.name : on?.node;
      const facts = factsAbout([intent.spec.nodeName, ...(other === undefined ? [] : [other])]);
      const why = gone ? "it has just gone" : notRead;
      return volumeDetails(facts, { ...intent, status: intent.status ?? {} }, why);
    },
    async node(name) {
      const intents = gatherer.intentsOf(name);
      const now = known(name);
      if (now.node === undefined && now.state === undefined && intents.length === 0) return undefined;
      const { object: state, notRead } =
        now.state === undefined
          ? { object: undefined, notRead: undefined }
          : await readLive<NodeVolumeState>(resource.states, name);
      const facts = factsAbout([name], state === undefined ? [] : [state]);
      return nodeDetails(name, facts, { ...now, volumes: intents.length }, intents, { state, notRead });
    },
    stop() {
      for (const cancel of cancels) cancel();
      late.stop();
      feed.stop();
    },
  };
}

/** What the controller keeps of what an explanation rests on. */
type KeptFacts = Pick<Facts, "now" | "agents" | "intents" | "states"> & { readonly nodes: readonly NodeInfo[] };

const notKept = "the page does not look at them";

/**
 * PURE. What the controller keeps, as the facts that a chain of causes rests on. Of pods, claims and attachments the
 * chain of a volume needs nothing that its intent does not say.
 */
function factsOf({ nodes, ...kept }: KeptFacts): Facts {
  const none = { pods: [], claims: [], persistentVolumes: [], volumeAttachments: [], csiDrivers: [], csiNodes: [] };
  const others = { storageClasses: [], namespaces: [], events: [], sets: [] };
  const denied = Object.fromEntries([...Object.keys(none), ...Object.keys(others)].map((list) => [list, notKept]));
  return {
    ...{ ...kept, denied, ...none, ...others },
    nodes: nodes.map(({ metadata: { name }, ready }) => ({
      metadata: { name },
      status: { conditions: [{ type: "Ready", status: ready ? "True" : "False" }] },
    })),
    // Asked for by chains of kubelet's volumes alone.
    sha256: () => "",
  };
}
