import { annotation, finalizer } from "../../api/names.ts";
import { agentLeaseSeconds } from "../../kube/leases/lease.ts";
import type { NodeFacts } from "../model/node-facts.ts";
import type { Intent, NodeInfo } from "../model/projections.ts";

/** Why an intent that is being deleted may go. */
export type ReleaseProof =
  | { readonly kind: "Acknowledged" }
  | { readonly kind: "NeverGranted" }
  | { readonly kind: "OutOfService" | "Rebooted" | "NodeLostTimeout" | "AdministratorsWord"; readonly message: string };

/**
 * Whether an intent may end, and by which proof; or what it waits for. `checkAgainInMs` is given if only time ends the
 * wait.
 */
export type ReleaseDecision =
  | { readonly release: true; readonly proof: ReleaseProof }
  | {
      readonly release: false;
      readonly reason: "Unmounting" | "NodeLost" | "PolicyMissing";
      readonly checkAgainInMs?: number;
    };

const outOfService = "node.kubernetes.io/out-of-service";

/**
 * Whether the finalizer of an intent may be removed. Pure.
 *
 * ```
 *  deleted ──► the agent acknowledges: this object, this generation, this grant ──► gone
 *     ├──► it never had a grant, so nothing was ever touched ───────────────────► gone
 *     ├──► proof that the node holds nothing (see releaseProof) ───────────────► gone, and said aloud
 *     └──► anything else: kept, however long it takes
 * ```
 * While any agent could have written it, an acknowledgement counts for nothing, and neither does a proof that rests on
 * what agents write (docs/decisions/0092). What people say does.
 */
export function decideRelease(intent: Intent, facts: NodeFacts): ReleaseDecision {
  if (intent.spec.grant === undefined) return { release: true, proof: { kind: "NeverGranted" } };
  const doubtedForMs = doubtForMs(facts);
  if (isAcknowledged(intent) && doubtedForMs === undefined) return { release: true, proof: { kind: "Acknowledged" } };
  const proof = doubtedForMs === undefined ? releaseProof(intent, facts) : wordOf(intent, facts);
  if (proof !== undefined) return { release: true, proof };
  if (doubtedForMs !== undefined) return { release: false, reason: "PolicyMissing", checkAgainInMs: doubtedForMs };
  const checkAgainInMs = proofInMs(intent, facts);
  return {
    release: false,
    reason: facts.node === undefined ? "NodeLost" : "Unmounting",
    ...(checkAgainInMs !== undefined && { checkAgainInMs }),
  };
}

/** Whether an intent waits for this controller to remove its finalizer. */
export function awaitsRelease({ metadata }: Intent): boolean {
  return metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(finalizer.inUse);
}

/**
 * Milliseconds from the return of the admission policy until a live agent has overwritten what others wrote in its
 * name. An agent that watches does so at once; but a Lease that someone else renewed makes its node look alive for the
 * duration of the Lease. An agent with an index notices at its next check of the policies, which runs every five
 * minutes, or a minute after one without an answer; then it rereads all its intents within two minutes
 * (IndexedIntents.relist).
 */
const mendsIn = { Watch: agentLeaseSeconds * 1000, Index: 600_000 } as const;
/** A moment more. */
const graceMs = 20_000;
const doubtAgainMs = 60_000;

/** PURE. @param indexed whether agents may go by an index of their intents */
export function mendsInMs(indexed: boolean): number {
  return indexed ? mendsIn.Index : mendsIn.Watch;
}

/** PURE. How many milliseconds the policy has to be right again until agents are believed that were heard since. */
export function settleMs(mendsInMs: number): number {
  return mendsInMs + graceMs;
}

/**
 * PURE. Milliseconds until the next check, if someone else than the node's agent may have written its status; undefined
 * if not. Only a renewal of the Lease that came late enough under the policy proves that the agent lives and has
 * overwritten its statuses. The last status of an agent that has not renewed since then is never trusted.
 */
export function doubtForMs(facts: Pick<NodeFacts, "agentsPolicy" | "renewedForMs" | "mendsInMs">): number | undefined {
  const { agentsPolicy, renewedForMs = Number.POSITIVE_INFINITY, mendsInMs = mendsIn.Watch } = facts;
  if (agentsPolicy === undefined) return undefined;
  const { wrong, rightForMs } = agentsPolicy;
  if (wrong !== undefined) return doubtAgainMs;
  if (rightForMs < settleMs(mendsInMs)) return settleMs(mendsInMs) - rightForMs;
  if (!Number.isFinite(rightForMs)) return undefined;
  return rightForMs - renewedForMs >= mendsInMs ? undefined : doubtAgainMs;
}

/**
 * Whether the agent has acknowledged the release. The acknowledgement must name this object (UID), the generation that
 * was deleted (setting the deletionTimestamp raises it), the grant, and a known run of the agent.
 */
function isAcknowledged({ metadata, spec, status }: Intent): boolean {
  return (
    status.observedUID === metadata.uid &&
    metadata.uid !== undefined &&
    status.observedGeneration === metadata.generation &&
    status.grantID === spec.grant?.id &&
    (status.agent?.bootID ?? "") !== "" &&
    (isReleased(status) || (status.state === "Retained" && spec.deletionPolicy === "Retain"))
  );
}

function isReleased(status: Intent["status"]): boolean {
  return status.state === "Released" && status.inUse === false;
}

/**
 * Proof that the node no longer uses the volume although its agent has not acknowledged that. A reboot of the node
 * proves it only while the agent's Lease has expired: a live agent may have mounted the volume in the new boot, with a
 * status that is yet to be written (docs/decisions/0014).
 */
export function releaseProof(
  intent: Intent,
  { node, lostForMs, silentForMs }: NodeFacts,
): Extract<ReleaseProof, { message: string }> | undefined {
  if (node !== undefined && isOutOfService(node)) return ofTaint;
  if (node !== undefined && isRebooted(intent, node) && silentForMs >= 0) {
    const usedIn = intent.status.agent?.bootID;
    const message = `the Node runs boot ${node.bootID}, the volume was used in boot ${usedIn}, and no agent is there`;
    return { kind: "Rebooted", message };
  }
  if (node === undefined && lostForMs >= timeoutMs(intent)) {
    const { timeoutSeconds } = intent.spec.nodeLossPolicy;
    const message = `no Node and no sign of life for ${timeoutSeconds} s; nodeLossPolicy trusts that, nothing proves it`;
    return { kind: "NodeLostTimeout", message };
  }
  return wordOf(intent, { node });
}

const ofTaint = { kind: "OutOfService", message: `the Node has the taint ${outOfService}` } as const;

/** Confirmations by administrators. No agent can write them. */
function wordOf({ metadata }: Intent, { node }: Pick<NodeFacts, "node">): ReturnType<typeof releaseProof> {
  if (node !== undefined && isOutOfService(node)) return ofTaint;
  const word = metadata.annotations?.[annotation.release] ?? "";
  if (word !== "") return { kind: "AdministratorsWord", message: `annotation ${annotation.release}: ${word}` };
  return undefined;
}

/** Whether an administrator has confirmed that the machine is off (taint node.kubernetes.io/out-of-service). */
export function isOutOfService({ taints }: NodeInfo): boolean {
  return taints.some((taint) => taint.key === outOfService);
}

/** Milliseconds until time alone may bring a proof, if all stays as it is; undefined if it never does, or has. */
export function proofInMs(intent: Intent, facts: NodeFacts): number | undefined {
  const untilSilentMs = Math.max(0, -facts.silentForMs);
  const remainingMs =
    facts.node === undefined
      ? timeoutMs(intent) - facts.lostForMs + untilSilentMs
      : isRebooted(intent, facts.node)
        ? untilSilentMs
        : Number.POSITIVE_INFINITY;
  return remainingMs > 0 && Number.isFinite(remainingMs) ? Math.max(1, remainingMs) : undefined;
}

function isRebooted({ status }: Intent, node: NodeInfo): boolean {
  const bootID = status.agent?.bootID ?? "";
  return node.ready && node.bootID !== "" && bootID !== "" && node.bootID !== bootID;
}

/** Without a time there is no proof: where an intent has it by a name that the CRD lacks, the API server drops it. */
function timeoutMs({ spec }: Intent): number {
  const { type, timeoutSeconds } = spec.nodeLossPolicy;
  return type === "AfterTimeout" && timeoutSeconds !== undefined ? timeoutSeconds * 1000 : Number.POSITIVE_INFINITY;
}
