// What every benchmark's entry does: a sandbox, a folder on the disk, kubelet's program, the runs, the table.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { insideSandbox, openSandbox } from "../../lib/sandbox/inside.ts";
import { keptFolders } from "../../lib/sandbox/kept.ts";
import { newRunId, runInSandbox } from "../../lib/sandbox/outside.ts";
import { cacheDirectory } from "../../lib/tools/tool.ts";
import { buildPeer } from "../peer/build.ts";
import { noiseText, tableOf } from "../report/table.ts";
import type { Benchmark } from "./benchmark.ts";
import { type BenchOptions, parseOptions, usage } from "./options.ts";
import { readOptions } from "./read-options.ts";
import type { Result } from "./result.ts";
import { runAll } from "./run-all.ts";

/** Set for the process in the sandbox. */
const diskVariable = "NODEVOLUME_BENCH_DISK";
const peerVariable = "NODEVOLUME_BENCH_PEER";

/** @param script the entry itself, which is started again in the sandbox */
export async function main(script: string, benchmarks: readonly Benchmark[]): Promise<void> {
  const options = readOptions(parseOptions, usage);
  if (typeof options === "number") process.exitCode = options;
  else if (insideSandbox()) await inside(options, benchmarks);
  else process.exitCode = await outside(options, script);
}

async function outside(options: BenchOptions, script: string): Promise<number> {
  if (process.getuid?.() !== 0) {
    console.error("the benchmarks mount, so they need root (nothing is left behind when they end)");
    return 1;
  }
  const peer = await buildPeer(process.env, console.error);
  const disk = makeFolder(cacheDirectory(process.env));
  try {
    const env = { [diskVariable]: disk, [peerVariable]: peer ?? "" };
    const code = await runInSandbox({ script, args: process.argv.slice(2), id: newRunId(), env });
    if (code !== 0) return code;
    const text = readFileSync(join(disk, "result.json"), "utf8");
    const { rows, noise, failures } = JSON.parse(text) as Result;
    console.log(`${noiseText(noise)}\n\n${tableOf(rows)}`);
    for (const failure of failures) console.log(`\nfailed: ${failure}`);
    if (options.json !== undefined) writeFileSync(options.json, text);
    return failures.length === 0 ? 0 : 1;
  } finally {
    rmSync(disk, { recursive: true, force: true });
  }
}

async function inside(options: BenchOptions, benchmarks: readonly Benchmark[]): Promise<void> {
  const { stopped } = openSandbox(keptFolders(process.env));
  stopped.addEventListener("abort", () => process.exit(130));
  const { [diskVariable]: disk = "", [peerVariable]: peer = "" } = process.env;
  const result: Result = await runAll(benchmarks, { options, disk, peer: peer || undefined, report: console.error });
  writeFileSync(join(disk, "result.json"), `${JSON.stringify(result, undefined, 2)}\n`);
  process.exit(0); // what still runs ends with the sandbox
}

/** A folder on a disk, named after this process; what a process that was killed left goes. */
export function makeFolder(cache: string): string {
  mkdirSync(cache, { recursive: true });
  const alive = new Set(readdirSync("/proc"));
  for (const name of readdirSync(cache)) {
    const [, pid] = /^bench-(\d+)$/.exec(name) ?? [];
    if (pid !== undefined && !alive.has(pid)) rmSync(join(cache, name), { recursive: true, force: true });
  }
  const folder = join(cache, `bench-${process.pid}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o700 });
  return folder;
}
