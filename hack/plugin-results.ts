// Writes docs/plugin-results.md, and the data behind it, from what the lanes contract and vm came to last.
//   node hack/plugin-results.ts           takes in dist/results-*.jsonl, of some tests or of all
//   node hack/plugin-results.ts --check   fails if the page is not what the data says
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestResult } from "./lib/lanes/results.ts";
import { mergeResults, type PluginRow, renderResults } from "./lib/plugin-results.ts";
import { root } from "./lib/root.ts";

const data = join(root, "docs/plugin-results.json");
const page = join(root, "docs/plugin-results.md");
const known = existsSync(data) ? (JSON.parse(readFileSync(data, "utf8")) as PluginRow[]) : [];
if (process.argv.includes("--check")) {
  if (readFileSync(page, "utf8") !== renderResults(known)) {
    console.error("docs/plugin-results.md is not what docs/plugin-results.json says; run: node hack/plugin-results.ts");
    process.exitCode = 1;
  }
} else {
  const files = ["contract", "vm-guest"].map((name) => join(root, `dist/results-${name}.jsonl`)).filter(existsSync);
  const rows = files.reduce((before, file) => mergeResults(before, resultsIn(file), dayOf(file)), known);
  writeFileSync(data, `${written(rows)}\n`);
  writeFileSync(page, renderResults(rows));
}

/** As biome formats it. */
function written(rows: readonly PluginRow[]): string {
  const list = /\[\n\s+("[^[\]{}]*")\n\s+\]/g;
  return JSON.stringify(rows, undefined, 2).replace(list, (_, days: string) => `[${days.replace(/\n\s+/g, " ")}]`);
}

/** A run writes its results anew. */
function dayOf(file: string): string {
  return statSync(file).mtime.toISOString().slice(0, 10);
}

function resultsIn(file: string): TestResult[] {
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as TestResult);
}
