import type { Code } from "../../../src/csi/client/rpc.ts";
import type { SeededRandom } from "../random.ts";

/**
 * What goes wrong with one call of a driver. A code: it is the answer, before or after the work. Late: the work takes
 * so many milliseconds longer than anybody waits. Lost: the work is done, and the connection breaks. False: OK without
 * the work.
 */
export type DriverFault =
  | { readonly code: Code; readonly carriedOut: boolean }
  | { readonly lateMs: number }
  | "lost"
  | "false";

/** All but OK: a driver may answer with each of them, whatever it has done. */
const failures: readonly Code[] = [
  "CANCELLED",
  "UNKNOWN",
  "INVALID_ARGUMENT",
  "DEADLINE_EXCEEDED",
  "NOT_FOUND",
  "ALREADY_EXISTS",
  "PERMISSION_DENIED",
  "RESOURCE_EXHAUSTED",
  "FAILED_PRECONDITION",
  "ABORTED",
  "OUT_OF_RANGE",
  "UNIMPLEMENTED",
  "INTERNAL",
  "UNAVAILABLE",
  "DATA_LOSS",
  "UNAUTHENTICATED",
];

/**
 * What may still take effect does so within one more deadline, which is what the product counts on (safety rule 8): no
 * system can be told from one that never acts again.
 */
export const longestLateMs = 110_000;

export function someFault(random: SeededRandom): DriverFault {
  return random.pick([
    () => ({ code: random.pick(failures), carriedOut: random.chance(0.5) }),
    () => ({ code: random.pick(failures), carriedOut: random.chance(0.5) }),
    () => ({ lateMs: random.between(10, longestLateMs) }),
    () => "lost" as const,
    () => "false" as const,
  ])();
}

export function faultName(fault: DriverFault): string {
  if (typeof fault === "string") return fault;
  if ("lateMs" in fault) return "late";
  return `${fault.code}${fault.carriedOut ? ", carried out" : ""}`;
}
