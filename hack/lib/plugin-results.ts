import type { TestResult } from "./lanes/results.ts";

/** What the contract suite came to for one case, as docs/plugin-results.json has it. */
export interface PluginRow {
  readonly case: string;
  readonly type: string;
  readonly client: string;
  readonly server?: string;
  readonly kernel: string;
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

/** PURE. The rows that there were, with what these results say anew. A case that was tested on another kernel or with others starts anew. */
export function mergeResults(known: readonly PluginRow[], results: readonly TestResult[]): PluginRow[] {
  const rows = new Map(known.map((row) => [row.case, row]));
  for (const { outcome, note } of results) {
    const of = contractNote(note);
    if (of === undefined || outcome === "skipped") continue;
    const { point, how, ...about } = of;
    const before = rows.get(of.case);
    const points = before !== undefined && sameParts(before, about) ? before.points : {};
    const said = outcome === "passed" ? ["passed", ...(how === undefined ? [] : [how])].join(" ") : outcome;
    rows.set(of.case, { ...about, points: { ...points, [point]: said } });
  }
  return [...rows.values()].sort((a, b) => (a.case < b.case ? -1 : 1));
}

/** PURE. docs/plugin-results.md. */
export function renderResults(rows: readonly PluginRow[]): string {
  const names = [...new Set(rows.flatMap(({ points }) => Object.keys(points)))].sort();
  const head = ["volume", "client", "server", "kernel", ...names];
  const lines = rows.map(({ case: title, client, server = "–", kernel, points }) =>
    [title, client, server, kernel, ...names.map((name) => cell(points[name]))].join(" | "),
  );
  return `${intro}\n| ${head.join(" | ")} |\n|${head.map(() => "---|").join("")}\n${lines.map((line) => `| ${line} |\n`).join("")}`;
}

const intro = `<!-- Written by hack/plugin-results.ts from the results of the lanes contract and vm: do not edit. -->
# Results of the plugin contract

Each row is a volume, each of the last columns a point that every plugin keeps to (\`test/contract/points\`): what it says there is the title of a test. "✓" passed, "–" cannot be asked of this
volume; a type that is tested in the VM has no row until that has run; behind "cut off" stand the effects after which the agent was ended, and how many there are, if they were counted. Written by the run itself: \`npm test -- contract vm\`, then \`node hack/plugin-results.ts\`.
\`csi\` and \`persistentVolumeClaim\` have no row: what a driver does is the driver's, and the lane csi has tests of its own with real ones and csi-sanity ([plugins.md](plugins.md)).
`;

function cell(said: string | undefined): string {
  if (said === undefined) return "–";
  return said.startsWith("passed") ? `✓${said.slice("passed".length)}` : said.toUpperCase();
}

function sameParts(a: PluginRow, b: Omit<PluginRow, "points">): boolean {
  return a.client === b.client && a.server === b.server && a.kernel === b.kernel;
}

function contractNote(note: object | undefined): ContractNote | undefined {
  return note !== undefined && "contract" in note ? (note.contract as ContractNote) : undefined;
}
