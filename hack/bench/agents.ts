// What agents cost one real kube-apiserver: each with watches of its own, or by the index of its node. See README.md.
import { rmSync, writeFileSync } from "node:fs";
import { messageOf } from "../../src/errors.ts";
import { buildBundles } from "../lib/bundle.ts";
import { cacheDirectory } from "../lib/tools/tool.ts";
import { commit } from "./lib/commit.ts";
import { makeFolder } from "./lib/main.ts";
import { readOptions } from "./lib/read-options.ts";
import { meterNoise } from "./report/noise.ts";
import { noiseText } from "./report/table.ts";
import { type AgentsFigures, fitsOf, tableOf } from "./scale/agents/figures.ts";
import { measureWays } from "./scale/agents/measure.ts";
import { type AgentsOptions, parseOptions, usage } from "./scale/agents/options.ts";

async function main(options: AgentsOptions): Promise<void> {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => stop.abort(new Error(`stopped by ${signal}`)));
  const directory = makeFolder(cacheDirectory(process.env)); // on a disk, for etcd
  const report = (line: string) => console.error(`${new Date().toISOString().slice(11, 19)} ${line}`);
  try {
    if (options.converge) await buildBundles();
    const noise = meterNoise(directory);
    const measured = await measureWays({ options, directory, report, signal: stop.signal, noise });
    const figures: AgentsFigures = { commit: commit(), noise: noise.end(), volumes: options.volumes, ...measured };
    console.log(`${noiseText(figures.noise)}\n\n${tableOf(figures)}\n\n${fitsOf(figures)}`);
    for (const { way, error } of figures.failures) console.log(`\n${way} ended: ${error}`);
    if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(figures, undefined, 2)}\n`);
    if (figures.failures.length > 0) process.exitCode = 1;
  } catch (error) {
    console.error(`failed: ${messageOf(error)}`);
    process.exitCode = 1;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const options = readOptions(parseOptions, usage);
if (typeof options === "number") process.exitCode = options;
else await main(options);
