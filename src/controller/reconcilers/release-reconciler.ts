import { apiVersion, finalizer, resource, systemNamespace } from "../../api/names.ts";
import type { Reason } from "../../api/reasons.ts";
import type { KubeClient } from "../../kube/client/client.ts";
import type { EventRecorder } from "../../kube/events/event-recorder.ts";
import type { PolicyWatch } from "../../kube/policies/policy-watch.ts";
import type { Logger } from "../../ports.ts";
import type { AgentLeases } from "../agents/agent-leases.ts";
import type { IntentAttachments } from "../attach/intent-attachments.ts";
import { type Intent, type NodeInfo, projectNode, refOf } from "../model/projections.ts";
import { requestersOf } from "../model/volume-identity.ts";
import { awaitsRelease, decideRelease, type ReleaseDecision, type ReleaseProof } from "../release/decide-release.ts";

/**
 * Dependencies of releasing an intent: its finalizer is removed only with a proof that the node no longer uses the
 * volume (decideRelease).
 */
export interface ReleaseIntentDeps {
  readonly client: KubeClient;
  readonly log: Logger;
  readonly recorder: EventRecorder;
  readonly node: (name: string) => NodeInfo | undefined;
  readonly silence: AgentLeases["silence"];
  /** How the policy stands that keeps agents apart: without it none of them is believed. In force if not given. */
  readonly agentsPolicy?: PolicyWatch["agentsPolicy"];
  /** Within how many milliseconds agents mend what others wrote while it was missing. */
  readonly mendsInMs?: number;
  /** Takes in a Lease as the server has it: a renewal that the watch has not shown yet is a sign of life, too. */
  readonly sawLease: (raw: unknown) => void;
  readonly uidOfSet: (name: string) => string | undefined;
  /** For an intent whose volume may be attached, or is a claim's. */
  readonly attachments?: IntentAttachments;
}

/**
 * Removes the finalizer of an intent that is being deleted, if it may end. A change in the watch cache only triggers
 * this: the decision uses the intent, the Node and the agent's Lease as the API server has them at this moment, and the
 * write requires that version of the intent.
 * @returns the decision; undefined if there is nothing to decide
 */
export async function releaseIntent(deps: ReleaseIntentDeps, seen: Intent): Promise<ReleaseDecision | undefined> {
  if (!awaitsRelease(seen)) return undefined;
  const { nodeName } = seen.spec;
  const { mendsInMs } = deps;
  const agents = () => ({
    ...deps.silence(nodeName),
    ...(deps.agentsPolicy && { agentsPolicy: deps.agentsPolicy() }),
    ...(mendsInMs !== undefined && { mendsInMs }),
  });
  const first = decideRelease(seen, { node: deps.node(nodeName), ...agents() });
  if (!first.release) return first;

  // Before the intent: a grant that is given meanwhile makes another version of it (safety rule 1).
  const attachment = await deps.attachments?.read(seen);
  const intent = await deps.client.get<Intent>(resource.intents, { name: seen.metadata.name });
  if (intent === undefined || intent.metadata.uid !== seen.metadata.uid || !awaitsRelease(intent)) return undefined;
  const node = projectNode(await deps.client.get(resource.nodes, { name: nodeName }));
  const lease = await deps.client.get(resource.leases, { namespace: systemNamespace, name: nodeName });
  if (lease !== undefined) deps.sawLease(lease);
  const decision = decideRelease(intent, { node, ...agents() });
  if (!decision.release) return decision;
  if (attachment !== undefined) {
    if (attachment.metadata.deletionTimestamp === undefined) await deps.attachments?.remove(attachment);
    return { release: false, reason: "Unmounting" };
  }
  await deps.attachments?.release(intent);

  const finalizers = (intent.metadata.finalizers ?? []).filter((name) => name !== finalizer.inUse);
  await deps.client.mergePatch(resource.intents, refOf(intent), { metadata: { finalizers } });
  recordRelease(deps, intent, decision.proof);
  return decision;
}

function recordRelease({ log, recorder, uidOfSet }: ReleaseIntentDeps, intent: Intent, proof: ReleaseProof): void {
  const { name, uid } = intent.metadata;
  const meta = { intent: name, node: intent.spec.nodeName, proof: proof.kind };
  if (!("message" in proof)) {
    log.info("intent released", meta);
    return;
  }
  log.warn("intent released without an acknowledgement", { ...meta, why: proof.message });
  const message = `${name} counts as released although node ${intent.spec.nodeName} never confirmed it: ${proof.message}`;
  const reason: Reason = "ReleasedWithoutAcknowledgement";
  const event = { type: "Warning", reason, message } as const;
  recorder.event({ object: { apiVersion, kind: resource.intents.kind, name, uid }, ...event });
  for (const set of requestersOf(intent)) {
    const setUID = uidOfSet(set);
    if (setUID === undefined) continue;
    recorder.event({ object: { apiVersion, kind: resource.sets.kind, name: set, uid: setUID }, ...event });
  }
}
