import { annotation, finalizer } from "../api/names.ts";
import type { Intent, NodeInfo } from "./projections.ts";

/** What is known of the node of an intent, beside the intent itself. */
export interface NodeFacts {
  /** undefined: there is no such Node. */
  readonly node: NodeInfo | undefined;
  /** Milliseconds for which we have seen both: no Node, and a Lease of the agent that has run out. 0 if not so now. */
  readonly lostForMs: number;
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
  const remaining = timeoutMs(intent) - facts.lostForMs;
  return {
    release: false,
    reason: facts.node === undefined ? "NodeLost" : "Unmounting",
    ...(facts.lostForMs > 0 && Number.isFinite(remaining) && { checkAgainInMs: remaining }),
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

/** Proof that the node holds nothing of the volume although it never said so. */
export function proofOf(
  intent: Intent,
  { node, lostForMs }: NodeFacts,
): Extract<Proof, { message: string }> | undefined {
  if (node?.taints.some((taint) => taint.key === outOfService)) {
    return { kind: "OutOfService", message: `the Node has the taint ${outOfService}` };
  }
  const bootID = intent.status.agent?.bootID ?? "";
  if (node?.ready && node.bootID !== "" && bootID !== "" && node.bootID !== bootID) {
    return { kind: "Rebooted", message: `the Node runs boot ${node.bootID}, the volume was used in boot ${bootID}` };
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

function timeoutMs({ spec }: Intent): number {
  const { type, minutes } = spec.nodeLossPolicy;
  return type === "AfterTimeout" && minutes !== undefined ? minutes * 60_000 : Number.POSITIVE_INFINITY;
}
