// What it costs that an agent asks the API server through api-proxy: each figure beside the same without, in turns. See
// README.md.
import { rmSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { messageOf } from "../../src/errors.ts";
import { buildBundles } from "../lib/bundle.ts";
import { cacheDirectory } from "../lib/tools/tool.ts";
import { type Measured, measure } from "./api-proxy/measure.ts";
import { quantilesOf } from "./in-agent/quantiles.ts";
import { makeFolder } from "./lib/main.ts";
import { readOptions } from "./lib/read-options.ts";
import { meterNoise } from "./report/noise.ts";
import { noiseText } from "./report/table.ts";

const usage = `usage: node hack/bench/api-proxy.ts [--writes N] [--idle SECONDS] [--json FILE]

  --writes N       status writes by either way, each seen by a watch of either way (500)
  --idle SECONDS   how long the proxy has nothing to do but two watches (120)
  --json FILE      all figures

Needs root, to take all capabilities from the proxy.
`;

const flags = {
  writes: { type: "string", default: "500" },
  idle: { type: "string", default: "120" },
  json: { type: "string" },
  help: { type: "boolean", default: false },
} as const;

function parseOptions(args: readonly string[]) {
  const { values } = parseArgs({ args: [...args], options: flags });
  if (values.help) return "help" as const;
  const [writes, idle] = [Number(values.writes), Number(values.idle)];
  if (!(Number.isInteger(writes) && writes > 0 && idle > 0)) throw new Error("--writes and --idle are numbers above 0");
  return { writes, idleMs: idle * 1_000, json: values.json };
}

/** PURE. */
function tableOf({ write, event, resident, idleMs, idleProcessorMs, busyProcessorMs, requests }: Measured): string {
  const [w, e] = [quantilesOf(write.direct), quantilesOf(write.proxied)];
  const [we, ee] = [quantilesOf(event.direct), quantilesOf(event.proxied)];
  const row = (what: string, direct: number, proxied: number) =>
    `| ${what} | ${direct} ms | ${proxied} ms | ${(proxied - direct).toFixed(2)} ms | ${(proxied / direct).toFixed(2)}× |`;
  return [
    `${w.count} status writes by either way, each seen by both watches`,
    "",
    "| figure | without | through api-proxy | difference | ratio |",
    "|---|--:|--:|--:|--:|",
    row("status write → answer, p50", w.p50, e.p50),
    row("the same, p99", w.p99, e.p99),
    row("status write → event at a watch, p50", we.p50, ee.p50),
    row("the same, p99", we.p99, ee.p99),
    "",
    `resident memory that one process would not have: ${(resident / 2 ** 20).toFixed(0)} MiB`,
    `processor time: ${(busyProcessorMs / requests).toFixed(2)} ms a write and two events; at rest ${((idleProcessorMs / idleMs) * 60_000).toFixed(0)} ms a minute`,
  ].join("\n");
}

const options = readOptions(parseOptions, usage);
if (typeof options === "number") process.exitCode = options;
else {
  const directory = makeFolder(cacheDirectory(process.env)); // on a disk, for etcd
  const noise = meterNoise(directory);
  try {
    await buildBundles();
    noise.sample();
    const measured = await measure({ ...options, directory, report: console.error });
    noise.sample();
    const figures = { ...measured, noise: noise.end() };
    console.log(`${noiseText(figures.noise)}\n\n${tableOf(measured)}`);
    if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(figures, undefined, 2)}\n`);
  } catch (error) {
    console.error(`failed: ${messageOf(error)}`);
    process.exitCode = 1;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
