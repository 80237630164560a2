/** So many at once, and then another one each so many milliseconds. */
export interface Rate {
  readonly most: number;
  readonly refillMs: number;
}

/** How many were left, and when. Less than none where it is only known afterwards how many were taken. */
export interface Left {
  readonly left: number;
  /** Milliseconds of the monotonic clock. */
  readonly at: number;
}

/** PURE. How many are left now; one that is not whole yet counts as its part. undefined: none was taken. */
export function leftOf(before: Left | undefined, { most, refillMs }: Rate, now: number): number {
  return before === undefined ? most : Math.min(most, before.left + (now - before.at) / refillMs);
}
