// From the need of a volume that attaches to where it is mounted and reported, and back, beside a real kubelet:
// KUBECONFIG=FILE node hack/bench/attach-latency.ts. See README.md.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { insideSandbox, openSandbox } from "../lib/sandbox/inside.ts";
import { keptFolders } from "../lib/sandbox/kept.ts";
import { newRunId, runInSandbox } from "../lib/sandbox/outside.ts";
import { locateTools } from "../lib/tools/locate.ts";
import { cacheDirectory } from "../lib/tools/tool.ts";
import { runAttachLatency } from "./attach-latency/run.ts";
import { makeFolder, type Result, read } from "./lib/main.ts";
import type { BenchOptions } from "./lib/options.ts";
import { noiseText, tableOf } from "./report/table.ts";

/** Set for the process in the sandbox. */
const diskVariable = "NODEVOLUME_BENCH_DISK";
/** The image of kubelet's pods; this one is on every node. */
const image = process.env["IMAGE"] ?? "registry.k8s.io/pause:3.10.2";

const options = read(process.argv.slice(2));
if (typeof options === "number") process.exitCode = options;
else if (insideSandbox()) await inside(options);
else process.exitCode = await outside(options);

async function outside({ json }: BenchOptions): Promise<number> {
  if (process.getuid?.() !== 0) {
    console.error("the benchmarks mount, so they need root (nothing is left behind when they end)");
    return 1;
  }
  const disk = makeFolder(cacheDirectory(process.env));
  try {
    const script = import.meta.filename;
    const env = { [diskVariable]: disk };
    const code = await runInSandbox({ script, args: process.argv.slice(2), id: newRunId(), env });
    if (code !== 0) return code;
    const text = readFileSync(join(disk, "result.json"), "utf8");
    const { rows, noise, failures } = JSON.parse(text) as Result;
    console.log(`${noiseText(noise)}\n\n${tableOf(rows)}`);
    for (const failure of failures) console.log(`\nfailed: ${failure}`);
    if (json !== undefined) writeFileSync(json, text);
    return failures.length === 0 ? 0 : 1;
  } finally {
    rmSync(disk, { recursive: true, force: true });
  }
}

async function inside(options: BenchOptions): Promise<void> {
  const { stopped } = openSandbox(keptFolders(process.env));
  stopped.addEventListener("abort", () => process.exit(130));
  const { [diskVariable]: disk = "", KUBECONFIG: kubeconfig } = process.env;
  const report = console.error;
  const { kubectl } = await locateTools({ env: process.env, report });
  const kubelet = kubeconfig ? { kubeconfig, kubectl, image } : undefined;
  const result = await runAttachLatency({ options, disk, kubelet, report });
  writeFileSync(join(disk, "result.json"), `${JSON.stringify(result, undefined, 2)}\n`);
  process.exit(0); // what still runs ends with the sandbox
}
