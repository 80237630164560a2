import type { KubeClient } from "../../kube/client/client.ts";
import type { Clock, Random } from "../../ports.ts";
import type { Claim } from "../model/storage-objects.ts";
import type { WaitReason } from "../model/wait-reason.ts";
import { usedByPods } from "./claim-users.ts";
import { beingReserved, leftMs, notRefused, podsAgainMs, type Waiting } from "./decide-reservation.ts";
import { probePolicy } from "./probe-policy.ts";

/** Dependencies of reserving a claim whose owner keeps pods out of it. */
export interface OwnerReservationsDeps {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  /** Writes label and finalizer, if the claim is still the version that is asked for. */
  readonly mark: (claim: Claim) => Promise<void>;
}

/**
 * Reserves PVCs that a label of their owner has kept pods from for some time: all checks run at once, before the PVCs
 * are marked (decision 0028).
 */
export interface OwnerReservations {
  /**
   * @param shutAt since when the owner keeps pods out, in monotonic milliseconds
   * @returns undefined when the claim is ours
   */
  reserve(
    claim: Claim,
    shutAt: number,
    attachedByOthers: () => Promise<WaitReason | undefined>,
  ): Promise<Waiting | undefined>;
  /**
   * Checks, once per leader's term, whether a pod that names this PVC is refused, before a node needs one, so that the
   * first node does not wait for it. The check is repeated then.
   */
  prepare(claim: Claim): Promise<void>;
  /** Another has led meanwhile: the policies may have been away. */
  forget(): void;
}

/** No wait for pods is needed if the policies were seen to refuse one. */
export function createOwnerReservations(deps: OwnerReservationsDeps): OwnerReservations {
  const { client, clock, mark } = deps;
  /**
   * The policies that were seen to refuse a pod, and since when they are the same: one that was installed just now has
   * let others in.
   */
  let refusing: { readonly policies: string; readonly since: number } | undefined;
  /** When it was last looked whether they do, and nobody wanted a claim. */
  let preparedAt = Number.NEGATIVE_INFINITY;

  function saw(policies: string, now: number): { readonly since: number } {
    if (refusing?.policies !== policies) refusing = { policies, since: now };
    return refusing;
  }

  return {
    async reserve(claim, shutAt, attachedByOthers) {
      const asked = [probePolicy(deps, claim, "reserved"), usedByPods(client, claim), attachedByOthers()] as const;
      const [{ why, policies }, pods, others] = await Promise.all(asked);
      const now = clock.monotonic();
      const used = pods ?? others;
      if (used !== undefined) return { waitReason: used, againInMs: podsAgainMs };
      if (why !== undefined) return notRefused(claim, { shutAt }, why, now);
      const left = leftMs(shutAt, saw(policies, now).since, now);
      if (left > 0) return beingReserved(claim, left);
      // Refused if the claim is another version by now: its owner may have let pods in meanwhile.
      await mark(claim);
      return undefined;
    },
    async prepare(claim) {
      // Where the first one is refused by nobody, another one may be: it may be in a namespace that the policy leaves
      // out.
      if (refusing !== undefined || clock.monotonic() - preparedAt < podsAgainMs) return;
      preparedAt = clock.monotonic();
      const { why, policies } = await probePolicy(deps, claim, "reserved");
      if (why === undefined) saw(policies, clock.monotonic());
    },
    forget() {
      refusing = undefined;
      preparedAt = Number.NEGATIVE_INFINITY;
    },
  };
}
