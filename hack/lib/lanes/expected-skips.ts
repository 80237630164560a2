import type { TestResult } from "./results.ts";
import { names, parseTitleList } from "./title-list.ts";

/** One line of test/expected-skips.txt: where a test may be skipped, and why that is right. */
export interface ExpectedSkip {
  readonly lane: string;
  /** A whole title, or the beginning of one followed by "*". */
  readonly title: string;
  readonly reason: string;
}

/** @throws Error naming the line that is not `lane | title | reason` */
export function parseExpectedSkips(text: string): ExpectedSkip[] {
  return parseTitleList("test/expected-skips.txt", text, ["lane", "title", "reason"]).map(({ lane, title, rest }) => {
    return { lane, title, reason: rest[0] ?? "" };
  });
}

export function unexpectedSkips(results: readonly TestResult[], expected: readonly ExpectedSkip[]): TestResult[] {
  return results.filter((r) => r.outcome === "skipped" && !expected.some((e) => names(e, r)));
}
