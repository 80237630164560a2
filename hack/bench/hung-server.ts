// A stopped FUSE server under one volume among 50 others: node hack/bench/hung-server.ts [--rounds N] [--volumes N]
// [--json]
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { buildPrograms } from "../lib/agent-on-kernel/programs.ts";
import type { Round, Work } from "./hung-server/process.ts";
import { quantilesOf, round } from "./in-agent/quantiles.ts";

/**
 * What is allowed: p99 of the others with the server stopped, by that with the server running. The p99 of 2,000 volumes
 * is that of 20: on a machine that does other things, measure longer.
 */
const worst = 1.1;
const figures = ["mount", "unmount", "report"] as const;
/** Shown beside them, without a limit: while the volume on the server is being begun. */
const shown = [...figures, "beginning"] as const;

const { values } = parseArgs({
  options: { rounds: { type: "string" }, volumes: { type: "string" }, json: { type: "boolean" } },
});
if (process.getuid?.() !== 0 || !existsSync("/dev/fuse")) {
  console.error("skipped: needs root and /dev/fuse");
  process.exit(0);
}
const rounds = await measure(Number(values.rounds ?? 40), Number(values.volumes ?? 50));
const rows = shown.map(rowOf);
const said = [...new Set(rounds.flatMap(({ hung }) => hung?.said ?? []))];
const recoveredMs = quantilesOf(rounds.flatMap(({ hung }) => hung?.recoveredMs ?? []));
console.log(JSON.stringify({ bench: "hung-server", rounds: rounds.length, rows, said, recoveredMs }));
if (values.json !== true) {
  console.log("\nmilliseconds       server runs        server stopped     stopped / runs");
  console.log("                   p50      p99       p50      p99       p50      p99");
  for (const { figure, runs, stopped, ratio } of rows) {
    const numbers = [runs.p50, runs.p99, stopped.p50, stopped.p99, ratio.p50, ratio.p99];
    console.log(`${figure.padEnd(18)} ${numbers.map((n) => n.toFixed(2).padEnd(8)).join(" ")}`);
  }
  console.log(
    `\nthe volume on the server says ${said.join(", ")}; mounted after the server went on: p50 ${recoveredMs.p50} ms, max ${recoveredMs.max} ms`,
  );
}
const slower = rows.filter(({ figure, ratio }) => figure !== "beginning" && ratio.p99 > worst);
for (const { figure, ratio } of slower)
  console.error(`${figure}: p99 is ${ratio.p99} times that with the server running`);
if (said.some((reason) => reason !== "NotAnswering")) console.error(`the volume on the server said ${said.join(", ")}`);
process.exitCode = slower.length > 0 || said.join() !== "NotAnswering" ? 1 : 0;

/**
 * One figure with the server running and stopped. Rounds take turns, so that what else the machine does falls on both.
 */
function rowOf(figure: (typeof shown)[number]) {
  const of = (kind: Round["server"]) => quantilesOf(rounds.filter((r) => r.server === kind).flatMap((r) => r[figure]));
  const [runs, stopped] = [of("runs"), of("stopped")];
  const ratio = { p50: round(stopped.p50 / runs.p50), p99: round(stopped.p99 / runs.p99) };
  return { figure, runs, stopped, ratio };
}

async function measure(count: number, volumes: number): Promise<Round[]> {
  const programs = await buildPrograms({ bench: "hack/bench/hung-server/process.ts" });
  const path = mkdtempSync(join(tmpdir(), "nvo-bench-"));
  try {
    const work: Work = { path, child: programs.child, fuse: programs.fuse, rounds: count, volumes };
    const args = ["-m", "--propagation", "private", process.execPath, programs.bench, JSON.stringify(work)];
    const timeout = 60_000 + count * 30_000;
    const bench = spawn("unshare", args, { stdio: ["ignore", "pipe", "inherit"], timeout });
    const found: Round[] = [];
    for await (const line of createInterface({ input: bench.stdout })) found.push(JSON.parse(line) as Round);
    if (found.length !== count * 2) throw new Error(`the benchmark ended after ${found.length} rounds`);
    return found;
  } finally {
    rmSync(path, { recursive: true });
  }
}
