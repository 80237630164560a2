// Tells one run again, every line of its trace: node test/sim/replay.ts 'SCENARIO' [--seed N]
// [--crash 15:after:kill [--next 3:torn:kill]] [--storm]
import { parseArgs } from "node:util";
import { Admission } from "./api/admission.ts";
import type { CrashPoint, Ending, Moment } from "./faults.ts";
import { runScenario } from "./run-scenario.ts";
import { randomStories, scenarios } from "./scenarios/all.ts";

const stories = [...scenarios, ...randomStories];
const usage = `usage: node test/sim/replay.ts 'SCENARIO' [--seed N] [--crash EFFECT:MOMENT:ENDING [--next …]] [--storm] [--place PLACE]

--seed   of latencies, ids and storms; 1 if not given
--crash  EFFECT is a number as in the trace, MOMENT before, torn or after, ENDING kill or reboot
--next   the same for the next run of that process, whose effects are counted from 1
--storm  faults of the network, the API server and the processes, as the seed says
--place  of the agent: pod (if not given) or host

Scenarios:
${stories.map(({ name }) => `  ${name}`).join("\n")}`;

const moments: readonly string[] = ["before", "torn", "after"] satisfies Moment[];
const endings: readonly string[] = ["kill", "reboot"] satisfies Ending[];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: "string", default: "1" },
    crash: { type: "string" },
    next: { type: "string" },
    storm: { type: "boolean", default: false },
    place: { type: "string", default: "pod" },
    help: { type: "boolean", short: "h", default: false },
  },
});
const scenario = stories.find(({ name }) => name === positionals[0]);
if (scenario === undefined || values.help) {
  console.log(usage);
  process.exit(values.help ? 0 : 2);
}

const { world, error } = await runScenario(
  scenario,
  {
    seed: Number(values.seed),
    place: values.place === "host" ? "host" : "pod",
    crash: crashOf(values.crash, values.next),
    stormy: values.storm,
  },
  new Admission(),
);
console.log(`${world.trace}\n\nseen:\n${world.sightings}\n`);
console.log(error === undefined ? "converged" : `FAILED: ${error.message}`);
process.exitCode = error === undefined ? 0 : 1;

function crashOf(first: string | undefined, second: string | undefined): CrashPoint | undefined {
  if (first === undefined) return undefined;
  return { ...parseCrash(first), ...(second !== undefined && { next: parseCrash(second) }) };
}

function parseCrash(text: string): CrashPoint {
  const [effect, moment = "", ending = ""] = text.split(":");
  if (!Number.isInteger(Number(effect)) || !moments.includes(moment) || !endings.includes(ending)) {
    throw new RangeError(`${text} is not EFFECT:MOMENT:ENDING`);
  }
  return { effect: Number(effect), moment: moment as Moment, ending: ending as Ending };
}
