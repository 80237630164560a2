import type { TestResult } from "./lanes/results.ts";

/** What the contract suite came to for one case, as docs/plugin-results.json has it. */
export interface PluginRow {
  readonly case: string;
  readonly type: string;
  readonly client: string;
  readonly server?: string;
  readonly kernel: string;
  /** Days of the runs that its points are from, the oldest first. */
  readonly runs: readonly string[];
  /** By the name of a point: what became of it, with how much was tried, if that differs from case to case. */
  readonly points: { readonly [name: string]: string };
}

interface ContractNote {
  readonly case: string;
  readonly type: string;
  readonly point: string;
  readonly client: string;
  readonly server?: string;
  readonly kernel: string;
  readonly how?: string;
}

/**
 * PURE. The rows that there were, with what the results of a run say anew. A case that was tested on another kernel or
 * with others, or of which every point was asked again, starts anew; one that was tested later than this is kept.
 * @param day of the run, as 2024-12-31
 */
export function mergeResults(known: readonly PluginRow[], results: readonly TestResult[], day: string): PluginRow[] {
  const rows = new Map(known.map((row) => [row.case, row]));
  for (const row of rowsOf(results, day)) {
    const before = rows.get(row.case);
    if (before?.runs.some((run) => run > day)) continue;
    const isWhole = Object.keys(before?.points ?? {}).every((name) => row.points[name] !== undefined);
    if (before === undefined || isWhole || !sameParts(before, row)) rows.set(row.case, row);
    else {
      const runs = [...new Set([...before.runs, day])];
      rows.set(row.case, { ...row, runs, points: { ...before.points, ...row.points } });
    }
  }
  return [...rows.values()].sort((a, b) => (a.case < b.case ? -1 : 1));
}

function rowsOf(results: readonly TestResult[], day: string): Iterable<PluginRow> {
  const rows = new Map<string, PluginRow>();
  for (const { outcome, note } of results) {
    const of = contractNote(note);
    if (of === undefined || outcome === "skipped") continue;
    const { point, how, ...about } = of;
    const said = outcome === "passed" ? ["passed", ...(how === undefined ? [] : [how])].join(" ") : outcome;
    rows.set(of.case, { ...about, runs: [day], points: { ...rows.get(of.case)?.points, [point]: said } });
  }
  return rows.values();
}

/** PURE. docs/plugin-results.md. */
export function renderResults(rows: readonly PluginRow[]): string {
  const names = [...new Set(rows.flatMap(({ points }) => Object.keys(points)))].sort();
  const head = ["volume", "client", "server", "kernel", "run", ...names];
  const lines = rows.map(({ case: title, client, server = "–", kernel, runs, points }) =>
    [title, client, server, kernel, days(runs), ...names.map((name) => cell(points[name]))].join(" | "),
  );
  return `${intro}\n| ${head.join(" | ")} |\n|${head.map(() => "---|").join("")}\n${lines.map((line) => `| ${line} |\n`).join("")}`;
}

const intro = `<!-- Written by hack/plugin-results.ts from the results of the lanes contract and vm: do not edit. -->
# Results of the plugin contract

Each row is a volume. Each of the last columns is a point that every plugin must pass (\`test/contract/points\`). Its name is the title of a test.
- "✓" means passed, and "–" that the point does not apply to this volume.
- "run" is the day of the run, or the first and the last day, if some points were repeated later.
- "cut off" also shows the number of effects after which the agent was stopped, and the number of all effects, if they were counted.

The test run writes this page: \`npm test -- contract vm\`, then \`node hack/plugin-results.ts\`.
\`csi\` and \`persistentVolumeClaim\` have no row, because each driver is responsible for its own behaviour.
The lane csi tests them with real drivers and csi-sanity ([plugins.md](plugins.md)).
`;

function days(runs: readonly string[]): string {
  return runs.length === 1 ? `${runs[0]}` : `${runs[0]} to ${runs.at(-1)}`;
}

function cell(said: string | undefined): string {
  if (said === undefined) return "–";
  return said.startsWith("passed") ? `✓${said.slice("passed".length)}` : said.toUpperCase();
}

function sameParts(a: PluginRow, b: PluginRow): boolean {
  return a.client === b.client && a.server === b.server && a.kernel === b.kernel;
}

function contractNote(note: object | undefined): ContractNote | undefined {
  return note !== undefined && "contract" in note ? (note.contract as ContractNote) : undefined;
}
