import type { AsyncFunc, Func, Suite, Test } from "mocha";

const marked = new WeakSet<Suite | Test>();

/**
 * `it`, for a test that takes more than three seconds on a quiet machine: `npm test` leaves it out and counts it, `npm test -- --all`
 * and `--grep` run it.
 */
export function slow(title: string, test: Func | AsyncFunc): void {
  marked.add(it(title, test));
}

/** `describe`, for a suite whose tests, or what it sets up for them, take that long. */
export function slowSuite(title: string, define: (this: Suite) => void): void {
  marked.add(describe(title, define));
}

/** Whether the test, or a suite around it, is marked as slow. */
export function isSlow(test: Test): boolean {
  for (let at: Suite | Test | undefined = test; at !== undefined; at = at.parent) if (marked.has(at)) return true;
  return false;
}
