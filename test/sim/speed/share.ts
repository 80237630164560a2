import { createHash } from "node:crypto";
import type { Admission } from "../api/admission.ts";
import { type RunInput, runScenario } from "../run-scenario.ts";
import { randomStories, scenarios } from "../scenarios/all.ts";
import type { Scenario } from "../scenarios/scenario.ts";

/** Seeds whose runs are measured or compared. */
export interface Share {
  readonly first: number;
  readonly seeds: number;
}

/**
 * Storms over all scenarios in turn; every ninth run is in fair weather, every twenty-fifth a story that its seed
 * tells.
 */
export function* runsOf({ first, seeds }: Share): Generator<readonly [Scenario, RunInput]> {
  for (let seed = first; seed < first + seeds; seed++) {
    const told = seed % 25 === 24 ? randomStories[Math.floor(seed / 25) % randomStories.length] : undefined;
    const scenario = told ?? scenarios[seed % scenarios.length];
    if (scenario === undefined) throw new RangeError("there are no scenarios");
    const place = seed % 7 === 0 ? "host" : "pod";
    yield [scenario, { seed, place, stormy: told === undefined ? seed % 9 !== 0 : seed % 4 >= 2 }];
  }
}

/** What processor time of this thread all runs of a share took, in milliseconds. */
export async function timed(share: Share, admission: Admission): Promise<number> {
  const before = process.threadCpuUsage();
  for (const [scenario, input] of runsOf(share)) await runScenario(scenario, input, admission);
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

/**
 * SHA-256 over everything that happened in all runs of a share, and how they ended: equal if they are the same runs.
 */
export async function digestOf(share: Share, admission: Admission): Promise<string> {
  const hash = createHash("sha256");
  for (const [scenario, input] of runsOf(share)) {
    const { world, error } = await runScenario(scenario, input, admission);
    hash.update(`${world.trace}\n${error}\n${world.sightings}\n`);
  }
  return hash.digest("hex");
}
