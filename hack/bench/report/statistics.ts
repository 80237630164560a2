import { quantilesOf } from "../in-agent/quantiles.ts";

/** PURE. The middle one, or the mean of the two in the middle; undefined of nothing. */
export function median(sample: readonly number[]): number | undefined {
  const sorted = sample.toSorted((a, b) => a - b);
  const [low, high] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[Math.floor(sorted.length / 2)]];
  return low === undefined || high === undefined ? undefined : (low + high) / 2;
}

/** PURE. The largest by the smallest: 1 is a machine that does the same work in the same time; undefined of nothing. */
export function spread(sample: readonly number[]): number | undefined {
  const smallest = Math.min(...sample);
  return sample.length === 0 || smallest <= 0 ? undefined : Math.max(...sample) / smallest;
}

/** PURE. How many times more the other side took; undefined where a side has no figure, or ours is none. */
export function ratio(ours: readonly number[], other: readonly number[]): number | undefined {
  const [mine, theirs] = [median(ours), median(other)];
  return mine === undefined || theirs === undefined || mine <= 0 ? undefined : theirs / mine;
}

/** PURE. p50, p99 and the largest, under names that begin with `prefix`. */
export function figuresOf(prefix: string, sample: readonly number[]): { [figure: string]: number } {
  const { p50, p99, max } = quantilesOf(sample);
  return { [`${prefix}P50`]: p50, [`${prefix}P99`]: p99, [`${prefix}Max`]: max };
}
