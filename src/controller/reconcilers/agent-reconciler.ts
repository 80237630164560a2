import { resource } from "../../api/names.ts";
import type { KubeClient } from "../../kube/client/client.ts";
import type { RequeueAfter } from "../../kube/keyed-queue.ts";
import type { Clock, Logger } from "../../ports.ts";
import type { AgentEvents } from "../agents/agent-events.ts";
import type { AgentLeases } from "../agents/agent-leases.ts";
import { agentStatePatch, isKnownLost, lostStatePatch } from "../agents/agent-lost.ts";
import type { Gatherer } from "../intents/gather.ts";
import { refOf, type StateEntry } from "../model/projections.ts";

/** Dependencies of writing AgentLost and NodeLost into the status of intents. */
export interface ReconcileAgentDeps {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly gatherer: Gatherer;
  readonly leases: AgentLeases;
  readonly hasNode: (name: string) => boolean;
  readonly upsert: (raw: unknown) => void;
  readonly state: (node: string) => StateEntry | undefined;
  readonly upsertState: (raw: unknown) => void;
  /** Nodes whose state is reported as unknown because their agents do not renew their Leases. */
  readonly reportedLost: Set<string>;
  readonly agentEvents: AgentEvents;
}

/**
 * Writes into each intent of a node, and into its NodeVolumeState, whether the node's agent is alive, and records an
 * Event when that changes.
 * @returns milliseconds until the next check, if any
 */
export async function reconcileAgent(deps: ReconcileAgentDeps, node: string): Promise<RequeueAfter | undefined> {
  if (!deps.gatherer.complete()) return undefined;
  const intents = deps.gatherer.intentsOf(node);
  const state = deps.state(node);
  if (intents.length === 0 && state === undefined) {
    deps.reportedLost.delete(node);
    deps.agentEvents.forget(node);
    return undefined;
  }
  const life = deps.leases.of(node);
  const facts = { life, nodeExists: deps.hasNode(node) };
  let changed = 0;
  for (const intent of intents) {
    const patch = agentStatePatch(intent, facts, deps.clock.now());
    if (patch === undefined) continue;
    deps.upsert(await deps.client.mergePatchStatus(resource.intents, refOf(intent), patch));
    changed += 1;
  }
  if (changed > 0) {
    deps.log.info("agent state changed", { node, state: life.state, intents: changed });
  }
  if (life.state !== "lost") {
    deps.reportedLost.delete(node);
    const lateInMs = deps.agentEvents.lives(node, { knownLost: isKnownLost(state), back: changed > 0 });
    return Math.min(-life.expiredForMs, lateInMs);
  }
  const patch = state && lostStatePatch(state, facts, deps.reportedLost.has(node), deps.clock.now());
  if (state !== undefined && patch !== undefined) {
    deps.upsertState(await deps.client.mergePatchStatus(resource.states, refOf(state), patch));
    deps.agentEvents.lost(node);
  }
  if (state !== undefined) deps.reportedLost.add(node);
  return undefined;
}
