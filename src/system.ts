import { randomUUID } from "node:crypto";
import type { Clock, Logger, Random, System, Timers } from "./ports.ts";

/** The real clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};

/** Node's timers. */
export const systemTimers: Timers = {
  after(ms, action) {
    const timer = setTimeout(action, ms);
    return () => clearTimeout(timer);
  },
};

/** Randomness that is good enough for jitter, and unique identifiers. */
export const systemRandom: Random = {
  next: () => Math.random(),
  uuid: () => randomUUID(),
};

export function realSystem(log: Logger): System {
  return { clock: systemClock, timers: systemTimers, random: systemRandom, log };
}
