import { closingLine, countOf, type TestResult, total } from "./results.ts";

interface SummaryInput {
  readonly seconds: ReadonlyMap<string, number>;
  /** Skips that nobody expected. */
  readonly surprises: readonly TestResult[];
  /** What failed, and passed when it was run again. */
  readonly flaky?: readonly TestResult[];
  /** The factor of measureSlowness. */
  readonly slowness?: number;
}

/** Lines of one failure's message: what is waited for, who is late and why, or the end of a program's output. */
const longestReason = 12;
/** Characters of one line: what many pods wait for stands on one. */
const longestLine = 600;
/**
 * Characters for the messages of all failures together: with the lanes below them the last 4,000 that CI keeps of its
 * output.
 */
const room = 2_600;
/** Characters that a failure has at least, however many there are. */
const least = 200;
/** Tests that are named as the slowest. */
const slowest = 20;

/**
 * The end of every run: the slowest tests, each skip, each test in quarantine, each flaky one and each failure by name,
 * a line a lane, and the totals alone on the last line.
 */
export function summaryOf(
  results: readonly TestResult[],
  { seconds, surprises, flaky = [], slowness = 1 }: SummaryInput,
): string {
  const lines: string[] = [...slowestOf(results)];
  for (const skip of results.filter((r) => r.outcome === "skipped")) {
    const note = surprises.some((s) => s.lane === skip.lane && s.title === skip.title) ? " (unexpected)" : "";
    lines.push(`skipped${note}  ${skip.lane}: ${skip.title}: ${skip.reason}`);
  }
  for (const { lane, title } of results.filter((r) => r.outcome === "quarantined"))
    lines.push(`in quarantine  ${lane}: ${title}`);
  for (const test of flaky) lines.push(flakyLine(test));
  const failures = results.filter((r) => r.outcome === "failed");
  for (const failed of failures) lines.push(...failure(failed, Math.max(least, room / failures.length)));
  if (lines.length > 0) lines.push("");
  for (const [lane, time] of seconds)
    lines.push(
      laneLine(
        lane,
        results.filter((r) => r.lane === lane),
        time,
      ),
    );
  const others = results.filter((r) => !seconds.has(r.lane));
  for (const lane of new Set(others.map((r) => r.lane)))
    lines.push(
      laneLine(
        lane,
        others.filter((r) => r.lane === lane),
        undefined,
      ),
    );
  lines.push("", `this machine was ${slowness} times slower than a quiet one when the run began`);
  const left = countOf(results, "slow");
  if (left > 0) lines.push(`${left} slow tests were left out: npm test -- --all runs them`);
  const held = countOf(results, "quarantined");
  if (held > 0) lines.push(`${held} tests are in test/quarantine.txt and were left out`);
  return `${[...lines, "", closingLine(total(results))].join("\n")}\n`;
}

/** As one line of the summary and of dist/test-flaky.txt. */
export function flakyLine({ lane, title, reason = "" }: TestResult): string {
  return `FLAKY ${lane} | ${title} | ${cut(reason.split("\n")[0] ?? "")}`;
}

function laneLine(lane: string, results: readonly TestResult[], time: number | undefined): string {
  const { passed, failed, skipped } = total(results);
  const took = time === undefined ? "" : `${time.toFixed(1).padStart(8)} s`;
  return `${lane.padEnd(10)} ${count(passed)} passed ${count(failed)} failed ${count(skipped)} skipped ${took}`.trimEnd();
}

function slowestOf(results: readonly TestResult[]): string[] {
  const tests = results.filter((r) => r.file !== undefined && r.ms >= 100);
  const longest = tests.sort((a, b) => b.ms - a.ms).slice(0, slowest);
  return longest.map(({ lane, title, ms }) => `${(ms / 1000).toFixed(1).padStart(6)} s  ${lane}: ${title}`);
}

/** Its first lines, as many as there is room for; the first is there in any case. */
function failure({ lane, title, reason = "" }: TestResult, characters: number): string[] {
  const [first = "", ...rest] = reason
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map(cut);
  const lines = [`FAILED  ${lane}: ${title}: ${first}`];
  let left = characters - (lines[0]?.length ?? 0);
  for (const line of rest.slice(0, longestReason - 1)) {
    left -= line.length + indent.length;
    if (left < 0) return [...lines, `${indent}…`];
    lines.push(indent + line);
  }
  return lines;
}

function cut(line: string): string {
  return line.length > longestLine ? `${line.slice(0, longestLine)}…` : line;
}

const indent = "        ";

function count(n: number): string {
  return String(n).padStart(5);
}
