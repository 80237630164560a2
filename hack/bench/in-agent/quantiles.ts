export interface Quantiles {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  readonly count: number;
}

/** Nearest rank; 0 of an empty sample. */
export function quantilesOf(sample: readonly number[]): Quantiles {
  const sorted = sample.toSorted((a, b) => a - b);
  const rank = (q: number) => round(sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] ?? 0);
  return { p50: rank(0.5), p99: rank(0.99), max: rank(1), count: sorted.length };
}

/** To hundredths, as finer differences are noise. */
export function round(value: number): number {
  return Math.round(value * 100) / 100;
}
