import { annotation, finalizer } from "../api/names.ts";
import type { Intent, NodeInfo } from "./projections.ts";

/** What is known of the node of an intent, beside the intent itself. */
export interface NodeFacts {
  /** undefined: there is no such Node. */
  readonly node: NodeInfo | undefined;
  /** Milliseconds for which we have seen both: no Node, and a Lease of the agent that has run out. 0 if not so now. */
  readonly lostForMs: number;
  /** Milliseconds since the Lease of the node's agent ran out; negative: until it does, if it is not renewed. */
  readonly silentForMs: number;
}

/** Why an intent that is being deleted may go. */
export type Proof =
  | { readonly kind: "Acknowledged" }
  | { readonly kind: "NeverGranted" }
  | { readonly kind: "OutOfService" | "Rebooted" | "NodeLostTimeout" | "AdministratorsWord"; readonly message: string };

export type ReleaseDecision =
  | { readonly release: true; readonly proof: Proof }
  | { readonly release: false; readonly reason: "Unmounting" | "NodeLost"; readonly checkAgainInMs?: number };

const outOfService = "node.kubernetes.io/out-of-service";

/**
 * Whether the finalizer of an intent may be removed. Pure.
 *
 * ```
 *  deleted ──► the agent acknowledges: this object, this generation, this grant ──► gone
 *     ├──► it never had a grant, so nothing was ever touched ───────────────────► gone
 *     ├──► proof that the node holds nothing (see proofOf) ────────────────────► gone, and said aloud
 *     └──► anything else: kept, however long it takes
 * ```
 */
export function decideRelease(intent: Intent, facts: NodeFacts): ReleaseDecision {
  if (intent.spec.grant === undefined) return { release: true, proof: { kind: "NeverGranted" } };
  if (isAcknowledged(intent)) return { release: true, proof: { kind: "Acknowledged" } };
  const proof = proofOf(intent, facts);
  if (proof !== undefined) return { release: true, proof };
  const checkAgainInMs = proofInMs(intent, facts);
  return {
    release: false,
    reason: facts.node === undefined ? "NodeLost" : "Unmounting",
    ...(checkAgainInMs !== undefined && { checkAgainInMs }),
  };
}

/** Whether an intent waits for this controller to let it go. */
export function awaitsRelease({ metadata }: Intent): boolean {
  return metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(finalizer.inUse);
}

/**
 * The agent says that it holds nothing. It must speak of this very object, of the generation that was deleted (setting
 * the deletionTimestamp raises it), of the grant that it was given, and as a run of the agent that we can name.
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
 * Proof that the node holds nothing of the volume although it never said so. That the node has been rebooted is one only
 * while its agent is silent: one that lives may have mounted the volume in the new boot, with a status that is yet to be
 * written (docs/decisions/0014).
 */
export function proofOf(
  intent: Intent,
  { node, lostForMs, silentForMs }: NodeFacts,
): Extract<Proof, { message: string }> | undefined {
  if (node !== undefined && isOutOfService(node)) {
    return { kind: "OutOfService", message: `the Node has the taint ${outOfService}` };
  }
  if (node !== undefined && isRebooted(intent, node) && silentForMs >= 0) {
    const usedIn = intent.status.agent?.bootID;
    const message = `the Node runs boot ${node.bootID}, the volume was used in boot ${usedIn}, and no agent is there`;
    return { kind: "Rebooted", message };
  }
  if (node === undefined && lostForMs >= timeoutMs(intent)) {
    const { minutes } = intent.spec.nodeLossPolicy;
    const message = `no Node and no sign of life for ${minutes} minutes; nodeLossPolicy trusts that, nothing proves it`;
    return { kind: "NodeLostTimeout", message };
  }
  const word = intent.metadata.annotations?.[annotation.release] ?? "";
  if (word !== "") return { kind: "AdministratorsWord", message: `annotation ${annotation.release}: ${word}` };
  return undefined;
}

/** Whether an administrator has said that the machine is off. */
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

function timeoutMs({ spec }: Intent): number {
  const { type, minutes } = spec.nodeLossPolicy;
  return type === "AfterTimeout" && minutes !== undefined ? minutes * 60_000 : Number.POSITIVE_INFINITY;
}
