import type { TestResult } from "./results.ts";

/** One line of test/expected-skips.txt: where a test may be skipped, and why that is right. */
export interface ExpectedSkip {
  readonly lane: string;
  /** A whole title, or the beginning of one followed by "*". */
  readonly title: string;
  readonly reason: string;
}

/** @throws Error naming the line that is not `lane | title | reason` */
export function parseExpectedSkips(text: string): ExpectedSkip[] {
  return text
    .split("\n")
    .map((line, index) => ({ line: line.trim(), number: index + 1 }))
    .filter(({ line }) => line !== "" && !line.startsWith("#"))
    .map(({ line, number }) => {
      const [lane, title, reason, ...rest] = line.split("|").map((part) => part.trim());
      if (!lane || !title || !reason || rest.length > 0) {
        throw new Error(`test/expected-skips.txt:${number}: must be "lane | title | reason"`);
      }
      return { lane, title, reason };
    });
}

export function unexpectedSkips(results: readonly TestResult[], expected: readonly ExpectedSkip[]): TestResult[] {
  return results.filter((r) => r.outcome === "skipped" && !expected.some((e) => covers(e, r)));
}

function covers(expected: ExpectedSkip, result: TestResult): boolean {
  if (expected.lane !== result.lane) return false;
  return expected.title.endsWith("*")
    ? result.title.startsWith(expected.title.slice(0, -1))
    : result.title === expected.title;
}
