import { setTimeout as sleep } from "node:timers/promises";

export interface Waiting {
  readonly what: string;
  readonly patienceMs: number;
  readonly report: (line: string) => void;
  readonly signal: AbortSignal;
  /** For the line that is printed now and then, and for the error. */
  readonly progress: () => string;
}

const lookMs = 100;
const tellMs = 10_000;

/**
 * Waits until it is so.
 * @returns how long that took, in milliseconds
 * @throws Error when the patience is over, with the progress that was made; the signal's reason
 */
export async function untilSo(waiting: Waiting, isSo: () => boolean | Promise<boolean>): Promise<number> {
  const { what, patienceMs, report, signal, progress } = waiting;
  const begun = performance.now();
  let told = begun;
  while (!(await isSo())) {
    signal.throwIfAborted();
    const now = performance.now();
    if (now - begun > patienceMs) throw new Error(`waited ${patienceMs / 1000} s in vain for ${what}: ${progress()}`);
    if (now - told > tellMs) {
      told = now;
      report(`  waiting for ${what}: ${progress()}`);
    }
    await sleep(lookMs, undefined, { signal });
  }
  return performance.now() - begun;
}
