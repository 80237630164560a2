import type { KubeClient } from "../../kube/client.ts";
import type { Clock, Random } from "../../ports.ts";
import type { Claim } from "../attach/objects.ts";
import type { Word } from "../attach/word.ts";
import { usedByPods } from "./claim-users.ts";
import { beingTaken, leftMs, notRefused, podsAgainMs, type Waiting } from "./decide-hold.ts";
import { probePolicy } from "./probe-policy.ts";

export interface TakeReservedDeps {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  /** Writes label and finalizer, if the claim is still the version that is asked for. */
  readonly mark: (claim: Claim) => Promise<void>;
}

/** Takes claims that no pod could name for long: what has to be asked is asked before they are marked, all at once (decision 0028). */
export interface TakeReserved {
  /**
   * @param shutAt since when the owner keeps pods out, in monotonic milliseconds
   * @returns undefined when the claim is ours
   */
  take(claim: Claim, shutAt: number, attachedByOthers: () => Promise<Word | undefined>): Promise<Waiting | undefined>;
  /** Another has led meanwhile: the policies may have been away. */
  forget(): void;
}

export function createTakeReserved(deps: TakeReservedDeps): TakeReserved {
  const { client, clock, mark } = deps;
  /** The policies that were seen to refuse a pod, and since when they are the same: one that was installed just now has let others in. */
  let refusing: { readonly policies: string; readonly since: number } | undefined;
  return {
    async take(claim, shutAt, attachedByOthers) {
      const asked = [probePolicy(deps, claim, "reserved"), usedByPods(client, claim), attachedByOthers()] as const;
      const [{ why, policies }, pods, others] = await Promise.all(asked);
      const now = clock.monotonic();
      const used = pods ?? others;
      if (used !== undefined) return { word: used, againInMs: podsAgainMs };
      if (why !== undefined) return notRefused(claim, { shutAt }, why, now);
      if (refusing?.policies !== policies) refusing = { policies, since: now };
      const left = leftMs(shutAt, refusing.since, now);
      if (left > 0) return beingTaken(claim, left);
      // Refused if the claim is another version by now: its owner may have let pods in meanwhile.
      await mark(claim);
      return undefined;
    },
    forget() {
      refusing = undefined;
    },
  };
}
