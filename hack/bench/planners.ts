// The incremental planner beside plain plans of everything, at most one each 25 or 50 ms (decision 0121), in turns:
// sudo node hack/bench/planners.ts [--quick] [--runs 5] [--only TEXT] [--json FILE]
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { parseArgs } from "node:util";
import { buildBundles } from "../lib/bundle.ts";
import { bundleBenchmark } from "./in-agent/bundle.ts";
import type { PodsOf } from "./in-agent/intents.ts";
import type { RunName } from "./in-agent/process.ts";
import type { Measured } from "./in-agent/runs.ts";
import { runIn } from "./in-agent/scenarios.ts";
import { type PlannerName, planners, withPlanner } from "./planners/bundle.ts";
import { meterNoise } from "./report/noise.ts";
import { median } from "./report/statistics.ts";
import { noiseText } from "./report/table.ts";

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    runs: { type: "string", default: "5" },
    only: { type: "string", default: "" },
    json: { type: "string" },
  },
});
const size = values.quick ? 0.1 : 1;
const runs = values.quick ? 1 : Number(values.runs);

interface Scenario {
  readonly scenario: string;
  readonly run: RunName;
  readonly of: PodsOf & { readonly [figure: string]: number | string };
}

function scenario(name: string, run: RunName, of: Scenario["of"]): Scenario {
  const pods = Math.ceil(of.pods * size);
  return { scenario: name.replace("N", `${pods}`), run, of: { ...of, pods } };
}

const rest = (pods: number) =>
  scenario("N binds at rest", "rest", { pods, volumes: 1, kind: "local", seconds: 60 * size, windows: runs });
const scenarios: readonly Scenario[] = [
  scenario("burst: N binds at once", "burst", { pods: 1000, volumes: 1, kind: "local", rounds: 2 }),
  scenario("burst: N pods × 2 tmpfs at once", "burst", { pods: 500, volumes: 2, kind: "mem", rounds: 2 }),
  ...[20, 1000].map((pods) =>
    scenario("one change beside N binds", "change", { pods, volumes: 1, kind: "local", changes: 8 }),
  ),
  ...[20, 100, 1000].map(rest),
].filter(({ scenario }) => scenario.includes(values.only));

await buildBundles(); // the agent's children
const programs: (readonly [PlannerName, string])[] = [];
for (const [i, name] of planners.entries()) {
  programs.push([name, await bundleBenchmark(withPlanner(name), `bench-planner-${i}`)]);
}
const noise = meterNoise(tmpdir());
const results = scenarios.map((each) => ({ ...each, figures: new Map<PlannerName, Measured[]>() }));
type Result = (typeof results)[number];
const [resting, others] = [results.filter(({ run }) => run === "rest"), results.filter(({ run }) => run !== "rest")];
for (let n = 0; n < runs; n += 1) {
  for (const each of others) {
    noise.sample();
    for (const turn of n % 2 === 0 ? programs : programs.toReversed()) await measure(each, turn);
  }
}
// Those that rest leave the processors to each other; each measures as many times as there are runs.
await Promise.all(resting.flatMap((each) => programs.map((program) => measure(each, program))));
const about = noise.end();
const rows = results.flatMap(({ scenario, figures }) => rowsOf(scenario, figures));
console.log(`${noiseText(about)}\n`);
console.log(`| scenario | figure | ${planners.join(" | ")} |\n|---|---|${planners.map(() => "--:").join("|")}|`);
for (const { scenario, figure, cells } of rows) console.log(`| ${[scenario, figure, ...cells].join(" | ")} |`);
if (values.json !== undefined) {
  const raw = results.map(({ scenario, of, figures }) => ({ scenario, of, figures: Object.fromEntries(figures) }));
  writeFileSync(values.json, `${JSON.stringify({ noise: about, runs: raw }, undefined, 1)}\n`);
}

async function measure({ scenario, run, of, figures }: Result, [name, program]: (typeof programs)[number]) {
  const measured = (await runIn(program, run, of)) as Measured;
  figures.set(name, [...(figures.get(name) ?? []), measured]);
  console.error(JSON.stringify({ scenario, planner: name, ...measured }));
}

/** Of each figure the median of the runs and their extremes, and how many times that of the first planner it is. */
function rowsOf(name: string, figures: ReadonlyMap<PlannerName, readonly Measured[]>) {
  const keys = Object.keys(figures.get("incremental")?.[0] ?? {});
  return keys.map((figure) => {
    const samples = planners.map((planner) => (figures.get(planner) ?? []).map((each) => each[figure] ?? 0));
    const first = median(samples[0] ?? []) ?? 0;
    const cells = samples.map((sample, i) => {
      const times = i === 0 || first === 0 ? "" : `, ${((median(sample) ?? 0) / first).toFixed(2)}×`;
      return `${middle(sample)}${times}`;
    });
    return { scenario: name, figure, cells };
  });
}

function middle(sample: readonly number[]): string {
  return `${shown(median(sample) ?? 0)} [${shown(Math.min(...sample))}..${shown(Math.max(...sample))}]`;
}

function shown(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
