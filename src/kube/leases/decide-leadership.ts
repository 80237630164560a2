import type { Lease } from "./lease.ts";

/** The leader's Lease as last read. */
export interface ObservedLease {
  /** undefined: there is none. */
  readonly lease: Lease | undefined;
  /**
   * Monotonic milliseconds when this version of it was first seen: what another machine's clock says is not believed.
   */
  readonly since: number;
}

/** The next write of a candidate to the leader's Lease. */
export type LeadershipDecision =
  | { readonly action: "create" }
  | { readonly action: "renew" }
  | { readonly action: "take" }
  /** Somebody else leads, at least `forMs` milliseconds longer. */
  | { readonly action: "wait"; readonly holder: string; readonly forMs: number };

/** Added to another's lease before it is taken, for what the old leader may still have under way. */
export const takeOverMarginMs = 2_000;

/**
 * What a candidate does next.
 *
 * A lease is only taken if it did not change for its whole duration plus a margin by our own clock; the holder stops
 * acting earlier than that by its own clock, so that there is no moment with two leaders.
 * @param now monotonic milliseconds
 */
export function decideLeadership(observed: ObservedLease, me: string, now: number): LeadershipDecision {
  if (observed.lease === undefined) return { action: "create" };
  const { holderIdentity: holder = "", leaseDurationSeconds = 0 } = observed.lease.spec;
  if (holder === me) return { action: "renew" };
  if (holder === "") return { action: "take" };
  const endsAt = observed.since + leaseDurationSeconds * 1000 + takeOverMarginMs;
  return now >= endsAt ? { action: "take" } : { action: "wait", holder, forMs: endsAt - now };
}
