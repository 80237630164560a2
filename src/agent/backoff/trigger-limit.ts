/**
 * How often a wait may end before its time. Whoever can make events, a pod that makes and removes a directory all day
 * for example, must not undo the backoff: eight attempts are free, and each quarter of a minute another one. An event
 * beyond that is not lost but put off.
 */
const most = 8;
const refillMs = 15_000;

/** What is left of it for one place of one volume. */
export interface TriggerLimit {
  readonly left: number;
  /** Milliseconds of the monotonic clock at which that was so. */
  readonly at: number;
}

/**
 * PURE. Takes one early attempt out of the budget.
 * @returns what is left, or how many milliseconds to wait for enough
 */
export function takeTrigger(
  budget: TriggerLimit | undefined,
  now: number,
): { left: TriggerLimit } | { waitMs: number } {
  const left = budget === undefined ? most : Math.min(most, budget.left + (now - budget.at) / refillMs);
  if (left >= 1) return { left: { left: left - 1, at: now } };
  return { waitMs: Math.ceil((1 - left) * refillMs) };
}

/** PURE. Whether nothing is missing from it, so that it need not be remembered. */
export function isFull({ left, at }: TriggerLimit, now: number): boolean {
  return left + (now - at) / refillMs >= most;
}
