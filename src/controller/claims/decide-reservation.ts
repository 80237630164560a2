import type { Claim } from "../model/storage-objects.ts";
import type { WaitReason } from "../model/wait-reason.ts";

/**
 * How far the reservation of one claim has come. Times are in monotonic milliseconds.
 * ```
 *  label ─► a pod that names it is refused ─► 5 s since both ─► nobody names it, nothing of it is attached ─► ours
 * ```
 */
export interface PendingReservation {
  /** When this process first saw a label on it that keeps pods out: ours, or that of its owner. */
  readonly shutAt: number;
  /** When a pod that names it was first refused since. */
  readonly refusedAt?: number;
}

/**
 * For so long pods may still be admitted by a policy that has not seen the label yet, or be on their way past admission
 * (safety rule 14: 9 of 60 were, after the write of the label had returned).
 */
export const settleMs = 5_000;
const probeEveryMs = 250;
const probeAgainMs = 10_000;

/** The wait reason while a PVC is not reserved for us yet, and when to continue. */
export interface Waiting {
  readonly waitReason: WaitReason;
  readonly againInMs: number;
}

/** Milliseconds until pods of a claim are looked at again, where no watch reports their end. */
export const podsAgainMs = 10_000;

/** Milliseconds for which pods may still be on their way: neither label nor policy may be younger than that. */
export function leftMs(shutAt: number, refusedAt: number, now: number): number {
  return Math.max(shutAt, refusedAt) + settleMs - now;
}

/** A pod that names the claim was not refused. */
export function notRefused(claim: Claim, { shutAt }: PendingReservation, why: string, now: number): Waiting {
  // The policy follows the label after a moment.
  if (now - shutAt < settleMs) return beingReserved(claim, probeEveryMs);
  const { namespace = "", name } = claim.metadata;
  const message = `not using PVC ${namespace}/${name}: a pod that references it could be admitted at the same time: ${why}`;
  return {
    waitReason: { reason: "PolicyMissing", message, on: onClaim({ namespace, name }) },
    againInMs: probeAgainMs,
  };
}

/**
 * PURE. The wait while a claim is being reserved for us: the admission policy has to refuse pods that name it first.
 */
export function beingReserved({ metadata: { namespace = "", name } }: Claim, againInMs: number): Waiting {
  const message = `PVC ${namespace}/${name} is being reserved: pods that reference it are refused first`;
  return { waitReason: { reason: "WaitingForAttach", message, on: onClaim({ namespace, name }) }, againInMs };
}

/** What is said of a volume that somebody of ours has, while others are found at one of its claims. */
export function sharedWithKubelet(waitReason: WaitReason | undefined): WaitReason | undefined {
  if (waitReason?.reason !== "UsedByPods") return undefined;
  return {
    ...waitReason,
    reason: "SharedWithKubelet",
    message: `${waitReason.message}, at the same time as this volume: kubelet mounts it, too`,
  };
}

/** PURE. A claim as the object that a wait reason names. */
export function onClaim({ namespace, name }: { readonly namespace: string; readonly name: string }) {
  return { kind: "PersistentVolumeClaim", namespace, name };
}
