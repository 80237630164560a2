import type { KubeObject } from "../api/meta.ts";
import { resource } from "../api/names.ts";
import { isConflict } from "../kube/api-error.ts";
import type { KubeClient } from "../kube/client.ts";
import type { Lease } from "../kube/lease.ts";
import type { Logger } from "../ports.ts";
import type { AgentLeases } from "./agent-leases.ts";

/** What to do about the NodeVolumeState of a node: there is one as long as there is a Node, or anything of ours on it. */
export function decideNodeState(has: {
  readonly state: boolean;
  readonly node: boolean;
  readonly intents: boolean;
}): "create" | "delete" | "nothing" {
  if (has.node) return has.state ? "nothing" : "create";
  return has.state && !has.intents ? "delete" : "nothing";
}

export interface NodeStateDeps {
  readonly client: KubeClient;
  readonly log: Logger;
  readonly complete: () => boolean;
  readonly state: (name: string) => KubeObject | undefined;
  readonly hasNode: (name: string) => boolean;
  readonly hasIntents: (node: string) => boolean;
  readonly upsert: (raw: unknown) => void;
  readonly lease: (node: string) => Lease | undefined;
  readonly leases: AgentLeases;
}

/** Brings what there is once a node in line with the nodes. @returns milliseconds after which to look again, if any */
export async function reconcileNodeState(deps: NodeStateDeps, name: string): Promise<number | undefined> {
  if (!deps.complete()) return undefined;
  await reconcileState(deps, name);
  return reconcileLease(deps, name);
}

async function reconcileLease(deps: NodeStateDeps, name: string): Promise<number | undefined> {
  const lease = deps.lease(name);
  if (lease === undefined || deps.hasNode(name) || deps.hasIntents(name)) return undefined;
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
  const decision = decideNodeState({ state: state !== undefined, node, intents: deps.hasIntents(name) });
  if (decision === "nothing") return;
  if (decision === "delete") await deps.client.delete(resource.states, { name, uid: state?.metadata.uid });
  else {
    try {
      deps.upsert(await deps.client.create(resource.states, { metadata: { name } }));
    } catch (error) {
      // It is there already, and the watch is late.
      if (!isConflict(error)) throw error;
    }
  }
  deps.log.info("node state written", { node: name, verb: decision });
}
