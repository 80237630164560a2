// How fast the simulator is, and whether two versions of it tell the same runs: node test/sim/speed.ts
// [--calls | --digest]
import { parseArgs } from "node:util";
import { Admission } from "./api/admission.ts";
import { runScenario } from "./run-scenario.ts";
import { callsOf } from "./speed/calls.ts";
import { digestOf, runsOf, type Share, timed } from "./speed/share.ts";

const usage = `usage: node test/sim/speed.ts [--calls | --digest] [--seeds N] [--first N]

          runs a second of processor time of the thread, once the code is warm
--calls   calls of functions a run, and the functions that are called most: the same on every machine
--digest  a hash of all that happened: equal before and after a change that only makes it faster
--seeds   how many; 400 if not given, 40 of --calls, 200 of --digest
--first   the first seed; 1 if not given
--top     how many functions --calls tells of; 40 if not given`;

const { values } = parseArgs({
  options: {
    calls: { type: "boolean", default: false },
    digest: { type: "boolean", default: false },
    seeds: { type: "string" },
    first: { type: "string", default: "1" },
    top: { type: "string", default: "40" },
    help: { type: "boolean", short: "h", default: false },
  },
});
Error.stackTraceLimit = 0; // as in the threads that do the runs of the lane
const admission = new Admission();
const of = (seeds: number): Share => ({ first: Number(values.first), seeds: Number(values.seeds ?? seeds) });

if (values.help) console.log(usage);
else if (values.digest) console.log(await digestOf(of(200), admission));
else if (values.calls) await tellCalls(of(40));
else await tellSpeed(of(400));

async function tellSpeed(share: Share): Promise<void> {
  await timed({ first: share.first + share.seeds, seeds: share.seeds }, admission); // until the code is compiled
  const ms = await timed(share, admission);
  console.log(`${((share.seeds / ms) * 1000).toFixed(1)} runs a second of processor time (${share.seeds} runs)`);
}

async function tellCalls(share: Share): Promise<void> {
  const called = await callsOf(async () => {
    for (const [scenario, input] of runsOf(share)) await runScenario(scenario, input, admission);
  });
  const aRun = (calls: number) => (calls / share.seeds).toFixed(1);
  for (const { name, at, calls } of called.slice(0, Number(values.top))) {
    console.log(`${aRun(calls).padStart(10)} ${name} ${at}`);
  }
  const total = called.reduce((sum, { calls }) => sum + calls, 0);
  console.log(`${aRun(total)} calls a run`);
}
