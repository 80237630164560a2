/**
 * What one test came to; a lane's tests are handed from the process that ran them to the one that sums up as JSON
 * lines.
 */
export interface TestResult {
  readonly lane: string;
  /** With the titles of the suites around it. */
  readonly title: string;
  /** `slow` and `quarantined` tests are left out of the gate: they were not run. */
  readonly outcome: "passed" | "failed" | "skipped" | "slow" | "quarantined";
  readonly ms: number;
  /** Why it was skipped, or the message it failed with. */
  readonly reason?: string;
  /**
   * File of the test, beneath the project's root; absent for what is no test: a command, or a lane that ended early.
   */
  readonly file?: string;
  /** Set if a hook failed: the title of the suite that it belongs to, of which no further test was run. */
  readonly hookOf?: string;
  /** Set if the test is marked as slow, and may take its time. */
  readonly slow?: true;
  /** What the test says that it was made with. */
  readonly note?: object;
}

export interface Totals {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export function total(results: readonly TestResult[]): Totals {
  return {
    passed: countOf(results, "passed"),
    failed: countOf(results, "failed"),
    skipped: countOf(results, "skipped"),
  };
}

export function countOf(results: readonly TestResult[], outcome: TestResult["outcome"]): number {
  return results.filter((r) => r.outcome === outcome).length;
}

/** The closing line that every reader of test output looks for. */
export function closingLine({ passed, failed, skipped }: Totals): string {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}
