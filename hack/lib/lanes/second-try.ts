// A test of a kernel or process lane that fails is run once more, alone, after the lanes; so is one that took too long
// for its size.
import type { Lane } from "./lanes.ts";
import type { TestResult } from "./results.ts";

/** Runs in which more tests than these pass only on their second try are red. */
const mostFlaky = 2;
/** More failures than these are no accident: nothing is tried again. */
const mostTried = 8;
/** Milliseconds, on a quiet machine, that a test may take twice without being marked as slow. */
export const longestMs = 10_000;

/** The tests that are run again: all of one file. */
export interface Again {
  readonly lane: Lane;
  readonly file: string;
  readonly tests: readonly TestResult[];
}

export interface Verdict {
  readonly results: readonly TestResult[];
  /** What failed first, and then passed. */
  readonly flaky: readonly TestResult[];
}

/**
 * What is to be tried again after the lanes.
 * @param longest milliseconds that a test may take; undefined where slow tests are run, too
 */
export function toTryAgain(
  results: readonly TestResult[],
  lanes: readonly Lane[],
  longest: number | undefined,
): readonly Again[] {
  const retried = new Map(lanes.filter((lane) => lane.secondTry).map((lane) => [lane.name, lane]));
  const failed = results.filter((r) => r.outcome === "failed");
  if (failed.length > mostTried || failed.some((r) => r.file === undefined || !retried.has(r.lane))) return [];
  const long = results.filter((r) => r.outcome === "passed" && !r.slow && longest !== undefined && r.ms > longest);
  const again = new Map<string, { lane: Lane; file: string; tests: TestResult[] }>();
  for (const test of [...failed, ...long]) {
    const lane = retried.get(test.lane);
    if (lane === undefined || test.file === undefined) continue;
    const key = `${lane.name} ${test.file}`;
    const entry = again.get(key) ?? { lane, file: test.file, tests: [] };
    entry.tests.push(test);
    again.set(key, entry);
  }
  return [...again.values()];
}

/**
 * What a run came to, with its second tries.
 * @param second what came of `tried`, in its order
 * @param longest as for toTryAgain
 */
export function verdictOf(
  first: readonly TestResult[],
  tried: readonly Again[],
  second: readonly (readonly TestResult[])[],
  longest: number | undefined,
): Verdict {
  const flaky: TestResult[] = [];
  const added: TestResult[] = [];
  const changed = new Map<TestResult, readonly TestResult[]>();
  for (const [at, { tests }] of tried.entries()) {
    const found = second[at] ?? [];
    // Whatever fails on a second try counts: the test, one before it, a hook, a process that is left behind.
    const isBad = found.some((r) => r.outcome === "failed");
    if (isBad) added.push(...found.filter((r) => r.outcome === "failed" && !isKnown(r, first)));
    for (const test of tests) {
      const again = found.find((r) => r.title === test.title);
      if (test.outcome === "passed") {
        if (longest !== undefined && again?.outcome === "passed" && again.ms > longest)
          changed.set(test, [{ ...test, outcome: "failed", reason: tooLong(test.ms, again.ms, longest) }]);
      } else if (!isBad && passedAgain(test, found)) {
        flaky.push(test);
        changed.set(
          test,
          test.hookOf === undefined ? found.filter((r) => r.title === test.title) : notYet(found, first),
        );
      }
    }
  }
  const results = [...first.flatMap((r) => changed.get(r) ?? [r]), ...added];
  if (flaky.length <= mostFlaky) return { results, flaky };
  const reason = `${flaky.length} tests failed and passed when they were run again; ${mostFlaky} may: mend them, or name them in test/quarantine.txt`;
  return {
    results: [
      ...results,
      { lane: "second try", title: `at most ${mostFlaky} flaky tests`, outcome: "failed", ms: 0, reason },
    ],
    flaky,
  };
}

/** A hook has passed if something was run after it. */
function passedAgain(test: TestResult, found: readonly TestResult[]): boolean {
  return found.some((r) => r.outcome === "passed" && (test.hookOf !== undefined || r.title === test.title));
}

function isKnown(result: TestResult, first: readonly TestResult[]): boolean {
  return first.some((r) => r.lane === result.lane && r.title === result.title && r.outcome === "failed");
}

/** The tests that the failed hook kept from being run. */
function notYet(found: readonly TestResult[], first: readonly TestResult[]): TestResult[] {
  return found.filter((r) => !first.some((known) => known.lane === r.lane && known.title === r.title));
}

function tooLong(first: number, second: number, longest: number): string {
  const seconds = (ms: number) => (ms / 1000).toFixed(1);
  return `took ${seconds(first)} and ${seconds(second)} s, more than ${seconds(longest)} s twice: make it faster, or mark it with slow(…) instead of it(…)`;
}
