/** What is open between us and the driver of one volume. Stands in the journal. */
export interface Calls {
  /** A call was sent, and its answer is not on record: it runs, or the agent was ended meanwhile. */
  readonly sent?: boolean;
  /**
   * A call ended without an answer, and may still take effect (safety rule 8). With the wall time at which the driver answered
   * a later one, in milliseconds since the epoch.
   */
  readonly unanswered?: { readonly answeredAt?: number };
}

/** PURE. Before a call is sent. One that was sent before, and of which nothing more is on record, was cut off. */
export function sending({ sent, unanswered }: Calls): Calls {
  const open = sent === true ? {} : unanswered;
  return { sent: true, ...(open && { unanswered: open }) };
}

/** PURE. After an answer, be it a refusal: the driver is at work, so that what it was sent earlier has reached it too. */
export function answered({ unanswered }: Calls, now: number): Calls {
  if (unanswered === undefined) return {};
  return { unanswered: { answeredAt: unanswered.answeredAt ?? now } };
}

/** PURE. After a call that ended without an answer. */
export function unanswered(): Calls {
  return { unanswered: {} };
}

/**
 * PURE. How long a call may still take effect that ended without an answer, in milliseconds: one deadline after the driver has
 * answered a later one. 0: none may. A clock that was put back makes nobody wait longer than that.
 */
export function stillActingMs({ sent, unanswered: open }: Calls, now: number, deadlineMs: number): number {
  if (sent === true) return deadlineMs;
  if (open === undefined) return 0;
  if (open.answeredAt === undefined) return deadlineMs;
  return Math.min(deadlineMs, Math.max(0, open.answeredAt + deadlineMs - now));
}
