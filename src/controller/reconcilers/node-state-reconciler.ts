import { resource } from "../../api/names.ts";
import { isConflict } from "../../kube/client/api-error.ts";
import type { KubeClient } from "../../kube/client/client.ts";
import type { RequeueAfter } from "../../kube/keyed-queue.ts";
import type { Lease } from "../../kube/leases/lease.ts";
import type { Logger } from "../../ports.ts";
import type { AgentLeases } from "../agents/agent-leases.ts";
import { indexOf } from "../model/intent-index.ts";
import { type Intent, indexDigest, refOf, type StateEntry } from "../model/projections.ts";

/**
 * What to do about the NodeVolumeState of a node: there is one as long as there is a Node, or anything of ours on it.
 */
export function decideNodeState(has: {
  readonly state: boolean;
  readonly node: boolean;
  readonly intents: boolean;
}): "create" | "delete" | "nothing" {
  if (has.node) return has.state ? "nothing" : "create";
  return has.state && !has.intents ? "delete" : "nothing";
}

/** Dependencies of creating and deleting the NodeVolumeStates of nodes, and of the index in them (decision 0067). */
export interface NodeStateDeps {
  readonly client: KubeClient;
  readonly log: Logger;
  /** Whether nodes have an index. If not, one that is there is taken away: nobody would keep it true. */
  readonly indexIntents: boolean;
  readonly intentsOf: (node: string) => Intent[];
  /** Takes the server's answer into the store, so that the next decision sees it. */
  readonly upsert: (raw: unknown) => void;
  readonly complete: () => boolean;
  readonly state: (name: string) => StateEntry | undefined;
  readonly hasNode: (name: string) => boolean;
  readonly lease: (node: string) => Lease | undefined;
  readonly leases: AgentLeases;
}

/**
 * Brings what there is once a node in line with the nodes and their intents.
 * @returns milliseconds after which to look again, if any
 */
export async function reconcileNodeState(deps: NodeStateDeps, name: string): Promise<RequeueAfter | undefined> {
  if (!deps.complete()) return undefined;
  await reconcileState(deps, name);
  return reconcileLease(deps, name);
}

async function reconcileLease(deps: NodeStateDeps, name: string): Promise<RequeueAfter | undefined> {
  const lease = deps.lease(name);
  if (lease === undefined || deps.hasNode(name) || deps.intentsOf(name).length > 0) return undefined;
  const { state, expiredForMs } = deps.leases.of(name);
  if (state !== "lost") return -expiredForMs;
  // With the resourceVersion: an agent that has come back to life meanwhile keeps it.
  const { namespace, uid, resourceVersion } = lease.metadata;
  await deps.client.delete(resource.leases, { name, namespace, uid, resourceVersion });
  deps.log.info("Lease of an agent deleted, whose node is gone", { node: name });
  return undefined;
}

async function reconcileState(deps: NodeStateDeps, name: string): Promise<void> {
  const state = deps.state(name);
  const node = deps.hasNode(name);
  const intents = deps.intentsOf(name);
  const decision = decideNodeState({ state: state !== undefined, node, intents: intents.length > 0 });
  if (decision === "nothing") return state && writeIndex(deps, state);
  if (decision === "delete") {
    if (state === undefined) return;
    // As it was seen: a leader that does not know that another leads must not delete what that one keeps.
    await deps.client.delete(resource.states, refOf(state));
  } else {
    try {
      const born = { metadata: { name }, ...(deps.indexIntents && { spec: indexOf(intents) }) };
      deps.upsert(await deps.client.create(resource.states, born));
    } catch (error) {
      // It is there already, and the watch is late.
      if (!isConflict(error)) throw error;
    }
  }
  deps.log.info("node state written", { node: name, verb: decision });
}

/**
 * Makes the index in a node's state what its intents are. Whoever calls it has read them completely. Nothing is written
 * while it is in line; a state that is another by now is refused by its resourceVersion, and tried again.
 */
async function writeIndex(deps: NodeStateDeps, { metadata, index }: StateEntry): Promise<void> {
  const { client, log, indexIntents, intentsOf } = deps;
  const { name, uid, resourceVersion } = metadata;
  const intents = intentsOf(name);
  const wanted = indexIntents ? indexOf(intents) : undefined;
  if (indexDigest(wanted) === index) return;
  if (wanted !== undefined && wanted.intents?.length !== intents.length) {
    const facts = { node: name, intents: intents.length, listed: wanted.intents?.length ?? 0 };
    log.warn("a node has more intents than an index holds", facts);
  }
  const spec = wanted === undefined ? null : { intents: null, omitted: null, ...wanted };
  deps.upsert(await client.mergePatch(resource.states, { name, uid, resourceVersion }, { spec }));
  if (wanted === undefined) log.info("index of a node's intents removed", { node: name });
}
