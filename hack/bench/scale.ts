// How large: the real controller against a generator that speaks the API's list and watch, or beside a real API server
// and kwok. See README.md.
import { rmSync, writeFileSync } from "node:fs";
import { messageOf } from "../../src/errors.ts";
import { buildBundles } from "../lib/bundle.ts";
import { cacheDirectory } from "../lib/tools/tool.ts";
import { makeFolder } from "./lib/main.ts";
import { readOptions } from "./lib/read-options.ts";
import { tableOf } from "./scale/figures.ts";
import { startGenerator } from "./scale/generator.ts";
import { measure } from "./scale/measure.ts";
import { parseOptions, type ScaleOptions, usage } from "./scale/options.ts";
import { realCluster } from "./scale/through-api/cluster.ts";

async function main(options: ScaleOptions): Promise<void> {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => stop.abort(new Error(`stopped by ${signal}`)));
  const directory = makeFolder(cacheDirectory(process.env)); // on a disk, for etcd
  try {
    await buildBundles();
    const report = (line: string) => console.error(`${new Date().toISOString().slice(11, 19)}${line}`);
    const backend = options.kwok ? realCluster(directory, report, options.agents) : startGenerator();
    const figures = await measure({ options, directory, report, signal: stop.signal }, backend);
    console.log(tableOf([figures]));
    if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(figures, undefined, 2)}\n`);
  } catch (error) {
    console.error(`failed: ${messageOf(error)}`);
    process.exitCode = 1;
  }
  rmSync(directory, { recursive: true, force: true });
}

const options = readOptions(parseOptions, usage);
if (typeof options === "number") process.exitCode = options;
else await main(options);
