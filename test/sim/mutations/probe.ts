// Runs the simulator until something is wrong, and says what: node test/sim/mutations/probe.ts
import { Admission } from "../api/admission.ts";
import { crashPoints } from "../crash-points.ts";
import { type RunInput, runScenario } from "../run-scenario.ts";
import { randomStories, scenarios } from "../scenarios/all.ts";
import type { Scenario } from "../scenarios/scenario.ts";

/** What is likely to notice soon comes first: all crash points take minutes. */
const seeds = { storm: 240, stories: 24 } as const;
const admission = new Admission();
let runs = 0;

const found = (await clean()) ?? (await stormed()) ?? (await crashed());
console.log(found ?? `nothing in ${runs} runs`);
process.exitCode = found === undefined ? 0 : 1;

async function clean(): Promise<string | undefined> {
  for (const scenario of scenarios) {
    const problem = await tell(scenario, { seed: 1 }, "in fair weather");
    if (problem !== undefined) return problem;
  }
  return undefined;
}

async function crashed(): Promise<string | undefined> {
  for (const scenario of scenarios) {
    const { world } = await runScenario(scenario, { seed: 1 }, admission);
    for (const crash of crashPoints(world.faults.effects, { all: false })) {
      const problem = await tell(scenario, { seed: 1, crash }, "after a crash");
      if (problem !== undefined) return problem;
    }
  }
  return undefined;
}

async function stormed(): Promise<string | undefined> {
  for (let seed = 1; seed <= seeds.storm; seed++) {
    const stories = seed <= seeds.stories ? randomStories : [];
    for (const scenario of [...stories, scenarios[seed % scenarios.length]]) {
      const problem = scenario && (await tell(scenario, { seed, stormy: true }, "in a storm"));
      if (problem !== undefined) return problem;
    }
  }
  return undefined;
}

async function tell(scenario: Scenario, input: RunInput, when: string): Promise<string | undefined> {
  runs++;
  const { error } = await runScenario(scenario, input, admission);
  if (error === undefined) return undefined;
  return `${error.message} | ${when}, run ${runs}: ${scenario.name}`;
}
