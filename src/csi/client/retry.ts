import type { Random } from "../../ports.ts";

/** Milliseconds: a socket may be there an instant before its listener; kubelet's backoff ends at two minutes, too. */
const firstMs = 100;
const longestMs = 120_000;

/** PURE. Milliseconds until a registration that failed so often in a row is retried: doubled, spread by a half. */
export function retryMs(failures: number, random: Random): number {
  const most = Math.min(longestMs, firstMs * 2 ** Math.min(failures - 1, 20));
  return Math.ceil(most * (1 - random.next() / 2));
}
