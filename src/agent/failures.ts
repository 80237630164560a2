import type { Reason } from "../api/reasons.ts";
import type { ErrorClass, WaitingOn } from "../errors.ts";
import { equalJitter } from "../kube/backoff.ts";
import type { System } from "../ports.ts";
import type { Operation, OperationKind } from "./operations.ts";

/**
 * kubelet's exponentialbackoff (behaviour 53): 500 ms, doubled to 2 min 2 s. Spread by up to a half, because a server that
 * came back would hear from all nodes at the same moment.
 */
const backoff = { baseMs: 500, maxMs: 122_000 };

/** How the last attempt at one place of a volume failed. */
export interface Failure {
  readonly kind: OperationKind;
  readonly generation: number;
  readonly reason: Reason;
  readonly errorClass: ErrorClass;
  readonly message: string;
  readonly on?: WaitingOn;
  readonly attempts: number;
  /** Milliseconds of the monotonic clock: first attempt that failed, and when the next one may begin. */
  readonly firstAt: number;
  readonly nextAt: number;
  /** Wall time in milliseconds since the epoch, for people: last attempt and next one. */
  readonly time: number;
  readonly nextTime: number;
}

/** Where a failure happened: one target, or the volume as a whole. Different targets fail on their own. */
export type Slot = string;

export function slotOf(operation: Operation): Slot {
  return `${operation.volume}\n${"path" in operation ? operation.path : ""}`;
}

export function volumeOf(slot: Slot): string {
  return slot.slice(0, slot.indexOf("\n"));
}

/** The failure after one more, with its delay doubled if it is the same operation for the same spec (behaviour 52). */
export function nextFailure(
  previous: Failure | undefined,
  { clock, random }: Pick<System, "clock" | "random">,
  failed: Pick<Failure, "kind" | "generation" | "reason" | "errorClass" | "message" | "on">,
): Failure {
  const now = clock.monotonic();
  const time = clock.now();
  const again = previous?.kind === failed.kind && previous.generation === failed.generation;
  const attempts = again ? previous.attempts + 1 : 1;
  const delay = equalJitter(attempts, backoff, random);
  const firstAt = again ? previous.firstAt : now;
  return { ...failed, attempts, firstAt, nextAt: now + delay, time, nextTime: time + delay };
}
