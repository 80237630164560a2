// Runs the simulator until something is wrong, and says what, as JSON. NODEVOLUME_SIM_HINT names a run that is likely
// to notice; with NODEVOLUME_SIM_HINT_ONLY nothing else is tried.
import { Admission } from "../api/admission.ts";
import { crashPoints } from "../crash-points.ts";
import { type RunInput, runScenario } from "../run-scenario.ts";
import { randomStories, scenarios } from "../scenarios/all.ts";
import type { Scenario } from "../scenarios/scenario.ts";
import type { Hint, Sighting } from "./mutation.ts";

/** What is likely to notice soon comes first; of the crash points one in so many is tried. */
const seeds = { storm: 186, stories: 24 } as const;
const crashShare = 23;
Error.stackTraceLimit = 0;
const admission = new Admission();
let runs = 0;

const hint = JSON.parse(process.env["NODEVOLUME_SIM_HINT"] ?? "null") as Hint | null;
const found = (await hinted()) ?? (process.env["NODEVOLUME_SIM_HINT_ONLY"] ? undefined : await searched());
console.log(JSON.stringify(found ?? ({ what: `nothing in ${runs} runs` } satisfies Sighting)));
process.exitCode = found === undefined ? 0 : 1;

async function hinted(): Promise<Sighting | undefined> {
  const scenario = [...scenarios, ...randomStories].find(({ name }) => name === hint?.scenario);
  return scenario && hint
    ? tell(scenario, { seed: hint.seed ?? 1, stormy: hint.stormy, crash: hint.crash })
    : undefined;
}

async function searched(): Promise<Sighting | undefined> {
  return (await clean()) ?? (await stormed()) ?? (await crashed());
}

async function clean(): Promise<Sighting | undefined> {
  for (const scenario of scenarios) {
    const problem = await tell(scenario, { seed: 1 });
    if (problem !== undefined) return problem;
  }
  return undefined;
}

async function crashed(): Promise<Sighting | undefined> {
  for (const [index, scenario] of scenarios.entries()) {
    const { world } = await runScenario(scenario, { seed: 1 }, admission);
    for (const [at, crash] of crashPoints(world.faults.effects, { all: false }).entries()) {
      const problem = (at + index) % crashShare === 0 && (await tell(scenario, { seed: 1, crash }));
      if (problem) return problem;
    }
  }
  return undefined;
}

async function stormed(): Promise<Sighting | undefined> {
  for (let seed = 1; seed <= seeds.storm; seed++) {
    const stories = seed <= seeds.stories ? randomStories : [];
    for (const scenario of [...stories, scenarios[seed % scenarios.length]]) {
      const problem = scenario && (await tell(scenario, { seed, stormy: true }));
      if (problem !== undefined) return problem;
    }
  }
  return undefined;
}

async function tell(scenario: Scenario, input: RunInput): Promise<Sighting | undefined> {
  runs++;
  const { error } = await runScenario(scenario, input, admission);
  if (error === undefined) return undefined;
  const { seed, stormy, crash } = input;
  return {
    what: error.message,
    runs,
    hint: { scenario: scenario.name, seed, ...(stormy && { stormy }), ...(crash && { crash }) },
  };
}
