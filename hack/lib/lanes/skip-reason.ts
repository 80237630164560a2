import type { Runnable, Suite } from "mocha";

const reasons = new WeakMap<Runnable | Suite, string>();

/** Skips the test or, from a hook, every test of its suite, and remembers why. Does not return. */
export function skipBecause(context: Mocha.Context, reason: string): never {
  const runnable = context.test;
  const isHook = context.currentTest !== runnable && runnable?.title.startsWith('"before') === true;
  if (runnable !== undefined) reasons.set(isHook ? (runnable.parent ?? runnable) : runnable, reason);
  context.skip();
}

/** Why a test was skipped: its own reason, or that of a suite around it. */
export function skipReason(test: Runnable): string | undefined {
  for (let at: Runnable | Suite | undefined = test; at !== undefined; at = at.parent) {
    const reason = reasons.get(at);
    if (reason !== undefined) return reason;
  }
  return undefined;
}
