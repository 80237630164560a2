import { setTimeout as sleep } from "node:timers/promises";

/**
 * Waits for something that no event tells of. @throws Error naming what was waited for, after `ms` milliseconds
 */
export async function until(what: string, ms: number, check: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + ms;
  while (!(await check())) {
    if (performance.now() > deadline) throw new Error(`waited ${ms / 1000} s for ${what}`);
    await sleep(20);
  }
}
