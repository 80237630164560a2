/** Calls to the driver of one volume whose effects are uncertain. It is in the journal. */
export interface Calls {
  /** A call was sent, and its answer is not on record: it runs, or the agent was ended meanwhile. */
  readonly sent?: boolean;
  /** A call without an answer may still take effect (safety rule 8). With when the driver answered a later one. */
  readonly unanswered?: { readonly answeredAt?: Moment };
}

/** Monotonic milliseconds, which mean nothing to another run of the agent. Wall time would: it may be set, by hours. */
export interface Moment {
  /** Which run of the agent it is. */
  readonly epoch: number;
  readonly ms: number;
}

/** PURE. Before a call is sent. One that was sent before, and of which nothing more is on record, was cut off. */
export function sending({ sent, unanswered }: Calls): Calls {
  const open = sent === true ? {} : unanswered;
  return { sent: true, ...(open && { unanswered: open }) };
}

/** PURE. After an answer, be it a refusal: the driver serves calls, so that earlier ones have reached it, too. */
export function answered({ unanswered }: Calls, now: Moment): Calls {
  if (unanswered === undefined) return {};
  const { answeredAt } = unanswered;
  return { unanswered: { answeredAt: answeredAt?.epoch === now.epoch ? answeredAt : now } };
}

/** PURE. After a call that ended without an answer. */
export function unanswered(): Calls {
  return { unanswered: {} };
}

/** PURE. Whether no answer came in this run of the agent since a call was left open: then its time does not run. */
export function awaitsAnswer({ sent, unanswered: open }: Calls, now: Moment): boolean {
  return sent === true || (open !== undefined && open.answeredAt?.epoch !== now.epoch);
}

/**
 * PURE. How long a call may still take effect that ended without an answer, in milliseconds: one deadline after the
 * driver has answered a later one, in this run of the agent. 0: none may.
 */
export function stillActingMs({ sent, unanswered: open }: Calls, now: Moment, deadlineMs: number): number {
  if (sent === true) return deadlineMs;
  if (open === undefined) return 0;
  const { answeredAt } = open;
  if (answeredAt?.epoch !== now.epoch) return deadlineMs;
  return Math.max(0, answeredAt.ms + deadlineMs - now.ms);
}
