import type { Clock } from "../../ports.ts";
import { type Left, leftOf, type Rate } from "../rate.ts";

/** How many reviews of tokens that nobody has seen before the API server is asked for. */
export interface ReviewBudget {
  /** @returns false if there were too many, by the one who asks or by all together */
  take(from: string): boolean;
}

/** Who scrapes has one token, or two of them while the first runs out. */
const ofOne: Rate = { most: 5, refillMs: 5_000 };
const ofAll: Rate = { most: 20, refillMs: 1_000 };
/** Addresses that are remembered. More of them at once have no more than `ofAll` gives. */
const addresses = 256;

/**
 * By address and for all together: whoever makes tokens up gives the API server little to do, and leaves something to
 * who comes from elsewhere.
 */
export function createReviewBudget(clock: Clock): ReviewBudget {
  const byAddress = new Map<string, Left>();
  let all: Left = { left: ofAll.most, at: clock.monotonic() };

  return {
    take(from) {
      const now = clock.monotonic();
      const one = leftOf(byAddress.get(from), ofOne, now);
      const rest = leftOf(all, ofAll, now);
      if (one < 1 || rest < 1) return false;
      all = { left: rest - 1, at: now };
      byAddress.delete(from);
      const [oldest] = byAddress.keys();
      if (byAddress.size >= addresses && oldest !== undefined) byAddress.delete(oldest);
      byAddress.set(from, { left: one - 1, at: now });
      return true;
    },
  };
}
