/** What one test came to; a lane's tests are handed from the process that ran them to the one that sums up as JSON lines. */
export interface TestResult {
  readonly lane: string;
  /** With the titles of the suites around it. */
  readonly title: string;
  readonly outcome: "passed" | "failed" | "skipped";
  readonly ms: number;
  /** Why it was skipped, or the message it failed with. */
  readonly reason?: string;
  /** What the test says that it was made with. */
  readonly note?: object;
}

export interface Totals {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export function total(results: readonly TestResult[]): Totals {
  const count = (outcome: TestResult["outcome"]) => results.filter((r) => r.outcome === outcome).length;
  return { passed: count("passed"), failed: count("failed"), skipped: count("skipped") };
}

/** The closing line that every reader of test output looks for. */
export function closingLine({ passed, failed, skipped }: Totals): string {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}
