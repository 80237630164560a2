import type { WatchEnd } from "./watch-stream.ts";

/** How a watch that is over has gone. */
export interface WatchCourse {
  /** Milliseconds since it was opened. */
  readonly lastedMs: number;
  /** Milliseconds since it showed anything, or since it was opened. */
  readonly silentMs: number;
  /** Failures in a row before this one. */
  readonly failures: number;
  /** Silence after which the watch is given up: {@link idleMs} if not given. */
  readonly idleMs?: number;
}

/** How a watch is begun anew. */
export interface Restart {
  /** Whether the collection must be listed: the version that was reached is no use any more. */
  readonly list: boolean;
  /** Failures in a row, which say how long to wait; 0 goes on at once. */
  readonly failures: number;
  /** Whether changes no longer arrive. */
  readonly lost: boolean;
}

/** Above the bookmark interval of about one minute. */
export const idleMs = 180_000;
/** As long as the longest wait: what lasted longer was no part of the failures before it. */
export const longestWaitMs = 10_000;
/**
 * A stream that ends earlier than this does not count as a success, or a server that closes at once would be flooded.
 */
const shortestStreamMs = 1_000;

/** How to go on when a watch is over. Pure. */
export function decideRestart({ kind }: WatchEnd, course: WatchCourse): Restart {
  const { lastedMs, silentMs, failures } = course;
  // A watch that is refused will not be accepted from the same resourceVersion next time either. And one that was not
  // even sent a bookmark may be that of a server that has gone back to an older state (a restored etcd): it sends
  // nothing until it has reached the version that was asked for.
  const list =
    kind === "expired" || kind === "refused" || (kind === "failed" && silentMs > (course.idleMs ?? idleMs) - 1_000);
  if (kind === "closed" && lastedMs >= shortestStreamMs) return { list, failures: 0, lost: false };
  const inARow = lastedMs >= longestWaitMs ? 1 : failures + 1;
  return { list, failures: inARow, lost: kind !== "closed" || inARow > 1 };
}
