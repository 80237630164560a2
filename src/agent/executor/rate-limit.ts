import type { Operation, OperationKind } from "../model/operation.ts";

/** Operations that began within the last `paceMs`, at most. */
const mostAtOnce = 32;
/** Milliseconds for which an operation counts: one that the processor alone is needed for has ended by then. */
export const paceMs = 50;
/**
 * So many operations under way that what ends in one turn of the event loop becomes one look: each compares all that
 * are under way. With fewer a look is cheap, and begins at once.
 */
export const crowd = 8;

/** First steps of a way that has more of them. */
const beginnings: ReadonlySet<OperationKind> = new Set(["stage", "unpublish"]);

/**
 * PURE. Which operations begin now, of those that may: not all of hundreds, so that the first volumes are ready when
 * half of the work is done and not when all of it is; volumes that are under way go before others. What waits for a
 * server or a disk holds nobody up: it counts for a moment only (law L4).
 * @param begun when each operation that runs has begun, in milliseconds of the monotonic clock
 */
export function rateLimit(
  operations: readonly Operation[],
  begun: Iterable<number>,
  now: number,
): readonly Operation[] {
  let room = mostAtOnce;
  for (const at of begun) if (now - at < paceMs) room -= 1;
  if (operations.length <= room) return operations;
  const onward: Operation[] = [];
  const others: Operation[] = [];
  for (const operation of operations) {
    const some = beginnings.has(operation.kind) ? others : onward;
    if (some.length < room) some.push(operation);
  }
  return [...onward, ...others].slice(0, Math.max(0, room));
}
