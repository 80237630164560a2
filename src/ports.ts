/**
 * The effects that every role needs, as interfaces. Real ones are in system.ts, simulated ones in test/sim.
 * Nothing in src calls Date, timers or Math.random itself, so that the same code runs under a virtual clock.
 */

/** Time. Wall time is for people and for the API; durations and deadlines use the monotonic clock. */
export interface Clock {
  /** Wall time in milliseconds since the epoch. May jump. */
  now(): number;
  /** Milliseconds that only grow, for durations and deadlines. */
  monotonic(): number;
}

/** Undoes a subscription or stops a timer. May be called again, to no effect. */
export type Cancel = () => void;

/** Timers of one process. `after` never runs its action before it returns. */
export interface Timers {
  /** Runs `action` once after at least `ms` milliseconds, unless cancelled. */
  after(ms: number, action: () => void): Cancel;
}

/** For whoever has much to do: it is done in pieces, and after each of them the others may have their turn. */
export interface Yielder {
  /** Whether this turn of the event loop has lasted so long that sockets, timers and others should have theirs. */
  over(): boolean;
  /**
   * Resolves in a later turn of the event loop, after all earlier callers. A caller does at least one piece of work
   * before it calls again.
   */
  next(): Promise<void>;
}

/** Randomness, injected so that tests and the simulator repeat a run from its seed. */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** An identifier that no other call anywhere returns: a UUID. */
  uuid(): string;
}

/** Fields of a log line beside its message. */
export type LogMeta = { readonly [key: string]: unknown };

/**
 * One line per transition, never a whole object, never the content of a volume. The meta is flat: what an operator
 * would filter by (intent, set, node, reason, operation, durationMs).
 */
export interface Logger {
  debug(message: string, meta?: LogMeta): void;
  info(message: string, meta?: LogMeta): void;
  warn(message: string, meta?: LogMeta): void;
  error(message: string, meta?: LogMeta): void;
  /** A logger that adds `meta` to each line. */
  child(meta: LogMeta): Logger;
}

/** The ports of the machine that both roles take. */
export interface System {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly yielder: Yielder;
  readonly random: Random;
  readonly log: Logger;
}
