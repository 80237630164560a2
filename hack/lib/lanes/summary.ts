import { closingLine, type TestResult, total } from "./results.ts";

interface SummaryInput {
  readonly seconds: ReadonlyMap<string, number>;
  /** Skips that nobody expected. */
  readonly surprises: readonly TestResult[];
}

/** Lines of one failure's message: what is waited for, who is late and why, or the end of a program's output. */
const longestReason = 12;
/** Characters of one line: what many pods wait for stands on one. */
const longestLine = 600;
/** Characters for the messages of all failures together: with the lanes below them the last 4,000 that CI keeps of its output. */
const room = 2_600;
/** Characters that a failure has at least, however many there are. */
const least = 200;

/** The end of every run: each skip and each failure by name, a line a lane, and the totals alone on the last line. */
export function summaryOf(results: readonly TestResult[], { seconds, surprises }: SummaryInput): string {
  const lines: string[] = [];
  for (const skip of results.filter((r) => r.outcome === "skipped")) {
    const note = surprises.some((s) => s.lane === skip.lane && s.title === skip.title) ? " (unexpected)" : "";
    lines.push(`skipped${note}  ${skip.lane}: ${skip.title}: ${skip.reason}`);
  }
  const failures = results.filter((r) => r.outcome === "failed");
  for (const failed of failures) lines.push(...failure(failed, Math.max(least, room / failures.length)));
  if (lines.length > 0) lines.push("");
  for (const [lane, time] of seconds) {
    const { passed, failed, skipped } = total(results.filter((r) => r.lane === lane));
    lines.push(
      `${lane.padEnd(10)} ${count(passed)} passed ${count(failed)} failed ${count(skipped)} skipped ${time.toFixed(1).padStart(8)} s`,
    );
  }
  return `${[...lines, "", closingLine(total(results))].join("\n")}\n`;
}

/** Its first lines, as many as there is room for; the first is there in any case. */
function failure({ lane, title, reason = "" }: TestResult, characters: number): string[] {
  const [first = "", ...rest] = reason
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => (line.length > longestLine ? `${line.slice(0, longestLine)}…` : line));
  const lines = [`FAILED  ${lane}: ${title}: ${first}`];
  let left = characters - (lines[0]?.length ?? 0);
  for (const line of rest.slice(0, longestReason - 1)) {
    left -= line.length + indent.length;
    if (left < 0) return [...lines, `${indent}…`];
    lines.push(indent + line);
  }
  return lines;
}

const indent = "        ";

function count(n: number): string {
  return String(n).padStart(5);
}
