/** How many children run beside each other (ChildSlots). */
export interface ChildLimits {
  /** Children at once that are not slow. */
  readonly quick: number;
  /**
   * Children at once that are slow. No volume whose last one was slow gets another beyond that, and who gets slow is
   * ended.
   */
  readonly slow: number;
  /** Both together. */
  readonly all: number;
  /** Children that make a file system, or grow one. */
  readonly format: number;
  /** Children that look a file system through, hours perhaps: they hold up each other, and nobody else. */
  readonly check: number;
  /** Children that need much memory: a key is derived. */
  readonly derive: number;
  /** Children that read back what was swapped out: each goes on until it is done, or its deadline. */
  readonly readBack: number;
  /** Children that go through all files of a volume, and get further. Those that do not are slow. */
  readonly walk: number;
  /** Milliseconds after which a child is slow; one that goes through files, when it has got no further for so long. */
  readonly slowMs: number;
  /** Milliseconds that a volume waits for a slot. */
  readonly waitMs: number;
  /** Children that were given up and have not ended, after which no volume whose last one was slow gets another. */
  readonly abandoned: number;
  /**
   * Those that run and those that were given up, without those that make a file system, look through one, derive a key,
   * or read back swap.
   */
  readonly total: number;
}

/**
 * A child of ours takes about 14 MB, and the agent's pod has 512 MB: 28 of them fit beside the agent, and a few mkfs,
 * e2fsck, swapoff and cryptsetup, which are no processes of ours any more. Two cores do not start more than 8 at once
 * any faster.
 */
export const defaultLimits: ChildLimits = {
  quick: 8,
  slow: 6,
  all: 16,
  format: 4,
  check: 4,
  derive: 2,
  readBack: 4,
  walk: 4,
  slowMs: 10_000,
  waitMs: 10_000,
  abandoned: 12,
  total: 28,
};
