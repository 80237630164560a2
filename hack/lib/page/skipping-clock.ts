import type { Clock } from "../../../src/ports.ts";

/** A clock of which time can be let pass at once: durations grow by it, the time of day stays. */
export function skippingClock(real: Clock): { readonly clock: Clock; skip(ms: number): void } {
  let skipped = 0;
  return {
    clock: { now: () => real.now(), monotonic: () => real.monotonic() + skipped },
    skip(ms) {
      skipped += ms;
    },
  };
}
