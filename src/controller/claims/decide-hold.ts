import type { Word } from "../attach/word.ts";

/**
 * How far the taking of one claim has come. Times are in monotonic milliseconds.
 * ```
 *  label ─► a pod that names it is refused ─► 5 s since the label ─► nobody names it, nothing of it is attached ─► ours
 * ```
 */
export interface Taking {
  /** When this process first saw a label on it that keeps pods out: ours, or that of its owner. */
  readonly shutAt: number;
  /** Whether a pod that names it was refused since. */
  readonly refused: boolean;
}

/**
 * For so long pods may still be admitted by a policy that has not seen the label yet, or be on their way past admission
 * (safety rule 14: 9 of 60 were, after the write of the label had returned).
 */
export const settleMs = 5_000;
const probeEveryMs = 250;
const probeAgainMs = 10_000;

/** What is said of a claim of which a pod was not refused, and when to try again. */
export function decideNotRefused(
  claim: { readonly namespace: string; readonly name: string },
  { shutAt }: Taking,
  why: string,
  now: number,
): { readonly word: Word | undefined; readonly againInMs: number } {
  // The policy follows the label after a moment.
  if (now - shutAt < settleMs) return { word: undefined, againInMs: probeEveryMs };
  const message = `claim ${claim.namespace}/${claim.name} is not used, as a pod that names it would be admitted beside: ${why}`;
  return { word: { reason: "PolicyMissing", message, on: onClaim(claim) }, againInMs: probeAgainMs };
}

/** What is said of a volume that somebody of ours has, while others are found at one of its claims. */
export function besideWord(word: Word | undefined): Word | undefined {
  if (word?.reason !== "UsedByPods") return undefined;
  return { ...word, reason: "SharedWithKubelet", message: `${word.message}, beside us: kubelet mounts it, too` };
}

export function onClaim({ namespace, name }: { readonly namespace: string; readonly name: string }) {
  return { kind: "PersistentVolumeClaim", namespace, name };
}
