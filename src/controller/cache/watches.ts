import type { KubeObject } from "../../api/meta.ts";
import { leaderLease, type Resource, resource, systemNamespace } from "../../api/names.ts";
import type { Transport } from "../../kube/client/transport.ts";
import { type Lease, projectLease } from "../../kube/leases/lease.ts";
import { createReflector, type Reflector, type ReflectorDeps } from "../../kube/watch/reflector.ts";
import type { System } from "../../ports.ts";
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

/** The controller's watches. */
export interface Watches {
  readonly sets: Reflector<SetEntry>;
  readonly nodes: Reflector<NodeInfo>;
  readonly intents: Reflector<Intent>;
  readonly states: Reflector<StateEntry>;
  readonly leases: Reflector<Lease>;
}

/** Dependencies of the controller's watches. `onRestart` is called each time a watch begins anew, with the reason. */
export interface WatchesDeps {
  readonly system: System;
  readonly transport: Transport;
  readonly onRestart: (resource: Resource, why: string) => void;
}

/**
 * Where the leader renews its own Lease every two seconds, nothing for this long is a dead connection. A watch of
 * Leases that is dead and not known to be must not last so long that agents whose last renewal it showed are taken for
 * late: the time of a renewal (33 s) and this are below agentLateSeconds, and far below the duration of a Lease (180
 * s).
 */
const leasesIdleMs = 20_000;

/** The watches of sets, Nodes, intents, states and Leases, not started yet. */
export function createWatches({ system, transport, onRestart }: WatchesDeps): Watches {
  function watch<T extends KubeObject>(
    of: Resource,
    project: (raw: unknown) => T | undefined,
    more: Pick<ReflectorDeps<T>, "namespace" | "idleMs"> = {},
  ) {
    return createReflector<T>({
      system,
      transport,
      resource: of,
      project,
      onRestart: (why) => onRestart(of, why),
      ...more,
    });
  }
  const watches = {
    sets: watch(resource.sets, projectSet),
    nodes: watch(resource.nodes, projectNode),
    intents: watch(resource.intents, projectIntent),
    states: watch(resource.states, projectState),
    leases: watch(resource.leases, leaseOfAgent, { namespace: systemNamespace, idleMs: leasesIdleMs }),
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
  return {
    sets: sets.store,
    nodes: nodes.store,
    intents: intents.store,
    states: states.store,
    leases: leases.store,
  };
}
