// For benchmarks with a way of their own: a sandbox, a folder on the disk, one result, the table.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { insideSandbox, openSandbox } from "../../lib/sandbox/inside.ts";
import { keptFolders } from "../../lib/sandbox/kept.ts";
import { newRunId, runInSandbox } from "../../lib/sandbox/outside.ts";
import { cacheDirectory } from "../../lib/tools/tool.ts";
import { noiseText, tableOf } from "../report/table.ts";
import { makeFolder } from "./main.ts";
import { type BenchOptions, parseOptions, usage } from "./options.ts";
import { readOptions } from "./read-options.ts";
import type { Result } from "./result.ts";

/** Set for the process in the sandbox. */
const diskVariable = "NODEVOLUME_BENCH_DISK";

export interface OnceInput {
  readonly options: BenchOptions;
  /** A folder on a disk. */
  readonly disk: string;
  readonly report: (line: string) => void;
}

export interface OnceOptions {
  /** The entry itself, which is started again in the sandbox. */
  readonly script: string;
  readonly measure: (input: OnceInput) => Promise<Result>;
  /** Of what does not end with the sandbox, by the run's id. */
  readonly tidy?: (run: string) => Promise<void>;
}

/** Runs a benchmark as a program. */
export async function once({ script, measure, tidy }: OnceOptions): Promise<void> {
  const options = readOptions(parseOptions, usage);
  if (typeof options === "number") process.exitCode = options;
  else if (insideSandbox()) await inside(options, measure);
  else process.exitCode = await outside(options, script, tidy);
}

async function outside({ json }: BenchOptions, script: string, tidy: OnceOptions["tidy"]): Promise<number> {
  if (process.getuid?.() !== 0) {
    console.error("the benchmarks mount, so they need root (nothing is left behind when they end)");
    return 1;
  }
  const disk = makeFolder(cacheDirectory(process.env));
  const id = newRunId();
  try {
    const code = await runInSandbox({ script, args: process.argv.slice(2), id, env: { [diskVariable]: disk } });
    if (code !== 0) return code;
    const text = readFileSync(join(disk, "result.json"), "utf8");
    const { rows, noise, failures } = JSON.parse(text) as Result;
    console.log(`${noiseText(noise)}\n\n${tableOf(rows)}`);
    for (const failure of failures) console.log(`\nfailed: ${failure}`);
    if (json !== undefined) writeFileSync(json, text);
    return failures.length === 0 ? 0 : 1;
  } finally {
    await tidy?.(id);
    rmSync(disk, { recursive: true, force: true });
  }
}

async function inside(options: BenchOptions, measure: OnceOptions["measure"]): Promise<void> {
  const { stopped } = openSandbox(keptFolders(process.env));
  stopped.addEventListener("abort", () => process.exit(130));
  const { [diskVariable]: disk = "" } = process.env;
  const result = await measure({ options, disk, report: console.error });
  writeFileSync(join(disk, "result.json"), `${JSON.stringify(result, undefined, 2)}\n`);
  process.exit(0); // what still runs ends with the sandbox
}
