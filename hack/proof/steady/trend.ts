/** A measurement: milliseconds since some moment, and what was measured then. */
export interface Sample {
  readonly at: number;
  readonly value: number;
}

export interface Trend {
  readonly mean: number;
  readonly first: number;
  readonly last: number;
  readonly max: number;
  /** What the straight line that fits best (least squares) gains from the first sample to the last. */
  readonly rise: number;
  /** The same for an hour. */
  readonly perHour: number;
  readonly samples: number;
}

const hourMs = 3_600_000;

/** PURE. Zeros of no samples. */
export function trendOf(samples: readonly Sample[]): Trend {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined)
    return { mean: 0, first: 0, last: 0, max: 0, rise: 0, perHour: 0, samples: 0 };
  const mean = averageOf(samples.map(({ value }) => value));
  const middle = averageOf(samples.map(({ at }) => at));
  const spread = sumOf(samples.map(({ at }) => (at - middle) ** 2));
  const slope = spread === 0 ? 0 : sumOf(samples.map(({ at, value }) => (at - middle) * (value - mean))) / spread;
  return {
    ...{ mean, first: first.value, last: last.value, max: Math.max(...samples.map(({ value }) => value)) },
    ...{ rise: slope * (last.at - first.at), perHour: slope * hourMs, samples: samples.length },
  };
}

/** PURE. The samples after the first part of the time: what grows while a process warms up is no leak. */
export function afterWarmUp(samples: readonly Sample[], part = 0.2): Sample[] {
  const [from, to] = [samples[0]?.at ?? 0, samples.at(-1)?.at ?? 0];
  return samples.filter(({ at }) => at >= from + (to - from) * part);
}

function averageOf(values: readonly number[]): number {
  return sumOf(values) / values.length;
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
