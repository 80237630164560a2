import { closingLine, type TestResult, total } from "./results.ts";

interface SummaryInput {
  readonly seconds: ReadonlyMap<string, number>;
  /** Skips that nobody expected. */
  readonly surprises: readonly TestResult[];
}

/** The end of every run: each skip and each failure by name, a line a lane, and the totals alone on the last line. */
export function summaryOf(results: readonly TestResult[], { seconds, surprises }: SummaryInput): string {
  const lines: string[] = [];
  for (const skip of results.filter((r) => r.outcome === "skipped")) {
    const note = surprises.some((s) => s.lane === skip.lane && s.title === skip.title) ? " (unexpected)" : "";
    lines.push(`skipped${note}  ${skip.lane}: ${skip.title}: ${skip.reason}`);
  }
  for (const failed of results.filter((r) => r.outcome === "failed")) {
    lines.push(
      `FAILED  ${failed.lane}: ${failed.title}: ${(failed.reason ?? "").split("\n").slice(0, 2).join(" ").slice(0, 300)}`,
    );
  }
  if (lines.length > 0) lines.push("");
  for (const [lane, time] of seconds) {
    const { passed, failed, skipped } = total(results.filter((r) => r.lane === lane));
    lines.push(
      `${lane.padEnd(10)} ${count(passed)} passed ${count(failed)} failed ${count(skipped)} skipped ${time.toFixed(1).padStart(8)} s`,
    );
  }
  return `${[...lines, "", closingLine(total(results))].join("\n")}\n`;
}

function count(n: number): string {
  return String(n).padStart(5);
}
