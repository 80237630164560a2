import { setTimeout as sleep } from "node:timers/promises";
import { whileWaitingFor } from "./lanes/waits.ts";
import { testDeadline } from "./test-deadline.ts";
import { whatIsThere } from "./what-is-there.ts";

/**
 * Waits for something that no event tells of.
 * @param ms ten times what it takes on a quiet machine; see testDeadline
 * @param saw what was seen last, for the error
 * @throws Error naming what was waited for, what was seen last, and the processes and mounts that there are
 */
export async function until(
  what: string,
  ms: number,
  check: () => boolean | Promise<boolean>,
  saw?: () => unknown,
): Promise<void> {
  const limit = testDeadline(ms);
  const deadline = performance.now() + limit;
  await whileWaitingFor(what, async () => {
    while (!(await check())) {
      if (performance.now() > deadline) throw new Error(ranOut(what, limit, saw));
      await sleep(20);
    }
  });
}

function ranOut(what: string, limit: number, saw: (() => unknown) | undefined): string {
  const last = saw === undefined ? [] : [`saw last: ${text(saw())}`];
  return [`waited ${Math.round(limit / 1000)} s for ${what}`, ...last, ...whatIsThere()].join("\n");
}

function text(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
