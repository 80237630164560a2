import type { Random } from "../ports.ts";

/** The first and the longest delay of an exponential backoff, in milliseconds. */
export interface BackoffLimits {
  readonly baseMs: number;
  readonly maxMs: number;
}

/**
 * Milliseconds to wait after the given number of failures in a row (1 or more): anywhere up to the doubled base, so
 * that many clients that failed at the same moment do not come back at the same moment (full jitter).
 */
export function fullJitter(failures: number, limits: BackoffLimits, random: Random): number {
  return Math.ceil(random.next() * ceiling(failures, limits));
}

/** As fullJitter, but at least half of it: for a work queue, where nobody else fails at the same moment. */
export function equalJitter(failures: number, limits: BackoffLimits, random: Random): number {
  const most = ceiling(failures, limits);
  return Math.ceil(most / 2 + (random.next() * most) / 2);
}

function ceiling(failures: number, { baseMs, maxMs }: BackoffLimits): number {
  return Math.min(maxMs, baseMs * 2 ** Math.min(Math.max(failures, 1) - 1, 30));
}
