import type { Context, Suite, Test } from "mocha";

/** Milliseconds that a slow test has, unless it says another number. */
const limitMs = 180_000;

const marked = new WeakSet<Suite | Test>();
const ofTheGate = new WeakSet<Test>();

/**
 * `it`, for a test that takes more than three seconds on a quiet machine, or two and is a variant of one that the gate
 * has: `npm test` leaves it out and counts it, `npm test -- --all` and `--grep` run it.
 */
export function slow(title: string, test: (this: Context) => void | PromiseLike<void>): Test {
  const added = it(title, test as Mocha.Func);
  added.timeout(Math.max(added.timeout(), limitMs));
  marked.add(added);
  return added;
}

/** A slow test that the gate has all the same, as it walks the main path of its lane. */
export function slowInGate(title: string, test: (this: Context) => void | PromiseLike<void>): Test {
  const added = slow(title, test);
  ofTheGate.add(added);
  return added;
}

/** `describe`, for a suite whose tests, or what it sets up for them, take that long. */
export function slowSuite(title: string, define: (this: Suite) => void): void {
  const added = describe(title, function () {
    this.timeout(Math.max(this.timeout(), limitMs));
    define.call(this);
  });
  marked.add(added);
}

/** Whether the test may take its time: it, or a suite around it, is marked. */
export function isMarked(test: Test): boolean {
  for (let at: Suite | Test | undefined = test; at !== undefined; at = at.parent) if (marked.has(at)) return true;
  return false;
}

/** Whether the gate leaves the test out. */
export function isSlow(test: Test): boolean {
  return isMarked(test) && !ofTheGate.has(test);
}
