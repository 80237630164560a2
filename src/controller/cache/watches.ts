import { leaderLease, resource, systemNamespace } from "../../api/names.ts";
import { type Lease, projectLease } from "../../kube/leases/lease.ts";
import type { Reflector } from "../../kube/watch/reflector.ts";
import {
  type Intent,
  type NodeInfo,
  projectIntent,
  projectNode,
  projectSet,
  projectState,
  type SetEntry,
  type StateEntry,
} from "../model/projections.ts";
import { type WatchDeps, watch } from "./watch.ts";

/** The controller's watches. */
export interface Watches {
  readonly sets: Reflector<SetEntry>;
  readonly nodes: Reflector<NodeInfo>;
  readonly intents: Reflector<Intent>;
  readonly states: Reflector<StateEntry>;
  readonly leases: Reflector<Lease>;
}

/**
 * Where the leader renews its own Lease every two seconds, nothing for this long is a dead connection. A watch of
 * Leases that is dead and not known to be must not last so long that agents whose last renewal it showed are taken for
 * late: the time of a renewal (33 s) and this are below agentLateSeconds, and far below the duration of a Lease (180
 * s).
 */
const leasesIdleMs = 20_000;

/** The watches of sets, Nodes, intents, states and Leases, not started yet. */
export function createWatches(deps: WatchDeps): Watches {
  const watches = {
    sets: watch(deps, resource.sets, projectSet),
    nodes: watch(deps, resource.nodes, projectNode),
    intents: watch(deps, resource.intents, projectIntent),
    states: watch(deps, resource.states, projectState),
    leases: watch(deps, resource.leases, leaseOfAgent, { namespace: systemNamespace, idleMs: leasesIdleMs }),
  };
  // Nothing is done before all of them have come back, so the first one calls the others.
  for (const { store } of allOf(watches)) {
    store.subscribe({
      onState({ connected }) {
        if (connected) for (const other of allOf(watches)) other.nudge();
      },
    });
  }
  return watches;
}

/** PURE. All reflectors, to start, stop and ask together. */
export function allOf(watches: Watches): Reflector<never>[] {
  return Object.values(watches) as Reflector<never>[];
}

/** The leader's own is no sign of life of a Node that has its name, and does not go when there is none. */
function leaseOfAgent(raw: unknown): Lease | undefined {
  const lease = projectLease(raw);
  return lease?.metadata.name === leaderLease ? undefined : lease;
}

/** PURE. The caches of the watches. */
export function storesOf({ sets, nodes, intents, states, leases }: Watches) {
  return { sets: sets.store, nodes: nodes.store, intents: intents.store, states: states.store, leases: leases.store };
}
