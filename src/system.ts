import { randomUUID } from "node:crypto";
import type { Clock, Logger, Random, System, Timers } from "./ports.ts";

/** The real clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};

/** Node takes a longer time for none at all, and calls at once. */
const longestMs = 2 ** 31 - 1;

/** Node's timers; what is to come in more than 24 days comes then. */
export const systemTimers: Timers = {
  after(ms, action) {
    const timer = setTimeout(action, Math.min(ms, longestMs));
    return () => clearTimeout(timer);
  },
};

/** Randomness that is good enough for jitter, and unique identifiers. */
export const systemRandom: Random = {
  next: () => Math.random(),
  uuid: () => randomUUID(),
};

/** Resolves when `signal` comes, or has come. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

export function realSystem(log: Logger): System {
  return { clock: systemClock, timers: systemTimers, random: systemRandom, log };
}
