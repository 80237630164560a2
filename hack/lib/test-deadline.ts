import { slownessVariable } from "./lanes/slowness.ts";

/**
 * How many times slower this machine is than a quiet one, as hack/test.ts measured it at its start; 1 if it did not.
 */
export function slowness(): number {
  const factor = Number(process.env[slownessVariable]);
  return Number.isFinite(factor) && factor >= 1 ? factor : 1;
}

/**
 * Milliseconds that a test waits at least: machines that others use stall for seconds. Below mocha's own limit of a
 * minute.
 */
const leastMs = 45_000;

/**
 * How long a test waits before it fails, in milliseconds. A deadline is no assertion: it only ends what would never
 * end.
 * @param ms ten times what it takes on a quiet machine
 */
export function testDeadline(ms: number): number {
  return Math.ceil(Math.max(ms, leastMs) * slowness()); // AbortSignal.timeout takes whole ones alone
}
