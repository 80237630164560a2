import type { Random } from "../../ports.ts";

/**
 * Milliseconds: a socket may be there an instant before somebody listens; kubelet's backoff ends at two minutes, too.
 */
const firstMs = 100;
const longestMs = 120_000;

/**
 * PURE. Milliseconds until a registration that has failed so often in a row is tried again: doubled, spread by up to a
 * half.
 */
export function retryMs(failures: number, random: Random): number {
  const most = Math.min(longestMs, firstMs * 2 ** Math.min(failures - 1, 20));
  return Math.ceil(most * (1 - random.next() / 2));
}
