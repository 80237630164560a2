import { randomUUID } from "node:crypto";
import type { Clock, Logger, Random, System, Timers, Yielder } from "./ports.ts";

/** The real clock. */
export const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };

/** Node takes a longer time for none at all, and calls at once. */
const longestMs = 2 ** 31 - 1;

/** Node's timers; what is to come in more than 24 days comes then. */
export const systemTimers: Timers = {
  after(ms, action) {
    const timer = setTimeout(action, Math.min(ms, longestMs));
    return () => clearTimeout(timer);
  },
};

/**
 * Milliseconds of one turn, of all who ask together. A request that is answered needs some turns more; the leader's
 * must be renewed within ten seconds, and what is asked meanwhile should not wait longer than the answer takes.
 */
const longestTurnMs = 10;

/** Turns of Node's event loop. */
export function createTurns(monotonic: () => number = () => performance.now()): Yielder {
  /** When this turn was first asked about. */
  let began: number | undefined;
  return {
    over() {
      if (began !== undefined) return monotonic() - began >= longestTurnMs;
      began = monotonic();
      // After the sockets of this turn.
      setImmediate(() => {
        began = undefined;
      });
      return false;
    },
    next: () => new Promise((resolve) => setImmediate(resolve)),
  };
}

/** Of this process: it has one event loop. */
export const systemTurns: Yielder = createTurns();

/** Randomness that is good enough for jitter, and unique identifiers. */
export const systemRandom: Random = { next: () => Math.random(), uuid: () => randomUUID() };

/** Resolves when `signal` comes, or has come. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

/** The ports of a real process: its clock, timers, event loop, randomness and log. */
export function realSystem(log: Logger): System {
  return { clock: systemClock, timers: systemTimers, yielder: systemTurns, random: systemRandom, log };
}
