import { allowsSet, notAllowedMessage } from "../../api/allowed-set.ts";
import type { VolumeSource } from "../../api/types.gen.ts";
import type { Claim } from "../model/storage-objects.ts";
import type { WaitReason } from "../model/wait-reason.ts";
import { onClaim } from "./decide-reservation.ts";

/**
 * The first claim that does not allow one of the sets, as a reason to wait; undefined if all of them allow all. Pure.
 */
export function claimNotAllowed(claims: Iterable<Claim>, sets: Iterable<string>): WaitReason | undefined {
  const names = [...sets];
  for (const { metadata } of claims) {
    const set = names.find((name) => !allowsSet(metadata.labels, name));
    if (set === undefined) continue;
    const claim = { namespace: metadata.namespace ?? "", name: metadata.name };
    return { reason: "ClaimNotAllowed", message: notAllowedMessage(claim, set), on: onClaim(claim) };
  }
  return undefined;
}

/** Whether a source names this claim. Pure. */
export function namesThisClaim({ persistentVolumeClaim: named }: VolumeSource, { metadata }: Claim): boolean {
  return named !== undefined && named.claimName === metadata.name && named.namespace === metadata.namespace;
}
