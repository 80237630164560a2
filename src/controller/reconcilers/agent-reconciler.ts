import { resource } from "../../api/names.ts";
import { ApiError, classifyWriteError } from "../../kube/client/api-error.ts";
import type { KubeClient } from "../../kube/client/client.ts";
import type { RequeueAfter } from "../../kube/keyed-queue.ts";
import type { Clock, Logger } from "../../ports.ts";
import type { AgentEvents } from "../agents/agent-events.ts";
import type { AgentLeases } from "../agents/agent-leases.ts";
import { type AgentFacts, agentStatePatch, isKnownLost, lostStatePatch } from "../agents/agent-lost.ts";
import type { Gatherer } from "../intents/gather.ts";
import { type Intent, refOf, type StateEntry } from "../model/projections.ts";

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
  const { changed, refused } = await writeAgentState(deps, intents, facts);
  if (changed > 0) {
    deps.log.info("agent state changed", { node, state: life.state, intents: changed });
  }
  const requeueAfter = await reportNode(deps, node, facts, changed > 0);
  if (refused !== undefined) throw refused;
  return requeueAfter;
}

/**
 * One that the API server refuses, by whatever its agent has put into it, keeps nobody from hearing of the others.
 * @returns how many were changed, and the first refusal
 */
async function writeAgentState(
  deps: ReconcileAgentDeps,
  intents: readonly Intent[],
  facts: AgentFacts,
): Promise<{ readonly changed: number; readonly refused: unknown }> {
  let changed = 0;
  let refused: unknown;
  for (const intent of intents) {
    const patch = agentStatePatch(intent, facts, deps.clock.now());
    if (patch === undefined) continue;
    try {
      deps.upsert(await deps.client.mergePatchStatus(resource.intents, refOf(intent), patch));
      changed += 1;
    } catch (error) {
      if (!(error instanceof ApiError) || classifyWriteError(error) !== "final") throw error;
      refused ??= error;
    }
  }
  return { changed, refused };
}

/** The node's state, and the Events. @returns milliseconds until the next check, if any */
async function reportNode(
  deps: ReconcileAgentDeps,
  node: string,
  facts: AgentFacts,
  back: boolean,
): Promise<RequeueAfter | undefined> {
  const { life } = facts;
  const state = deps.state(node);
  if (life.state !== "lost") {
    deps.reportedLost.delete(node);
    const lateInMs = deps.agentEvents.lives(node, { knownLost: isKnownLost(state), back });
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
