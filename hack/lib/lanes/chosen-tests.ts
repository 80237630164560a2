import type { Suite, Test } from "mocha";

/**
 * Takes the tests out of the suite, and those beneath it, that are not to be run.
 * @returns them, in the order of the suite
 */
export function leaveOut(suite: Suite, isLeftOut: (test: Test) => boolean): Test[] {
  const left = suite.tests.filter(isLeftOut);
  if (left.length > 0) suite.tests = suite.tests.filter((test) => !left.includes(test));
  return [...left, ...suite.suites.flatMap((inner) => leaveOut(inner, isLeftOut))];
}

/** The tests of a second try. */
export interface Wanted {
  /** Whole titles of tests. */
  readonly tests: readonly string[];
  /** Whole titles of suites of which a hook failed. */
  readonly suites: readonly string[];
}

/**
 * Leaves what a second try needs: the tests that are wanted, with all that stands before them in their outermost suite,
 * as one step of a story needs the steps before it.
 */
export function keepForSecondTry(root: Suite, { tests, suites }: Wanted): void {
  for (const outermost of root.suites) {
    const all: Test[] = [];
    outermost.eachTest((test) => void all.push(test));
    const last = all.findLastIndex((test) => tests.includes(test.fullTitle()) || isWithin(test, suites));
    const kept = new Set(all.slice(0, last + 1));
    leaveOut(outermost, (test) => !kept.has(test));
  }
  root.tests = root.tests.filter((test) => tests.includes(test.fullTitle()));
}

function isWithin(test: Test, suites: readonly string[]): boolean {
  for (let at = test.parent; at !== undefined; at = at.parent) if (suites.includes(at.fullTitle())) return true;
  return false;
}
