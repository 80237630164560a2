import type { Admission } from "./api/admission.ts";
import type { CrashPoint } from "./faults.ts";
import type { AgentPlace } from "./kernel/agent-namespace.ts";
import type { Scenario } from "./scenarios/scenario.ts";
import { World } from "./world.ts";

/** Everything that decides what happens in a run, besides its scenario. */
export interface RunInput {
  readonly seed: number;
  readonly place?: AgentPlace;
  readonly crash?: CrashPoint | undefined;
  readonly stormy?: boolean | undefined;
}

export interface RunResult {
  readonly world: World;
  /** Why it failed. */
  readonly error: Error | undefined;
}

/** Tells one story in a world of its own, from the first start of the agents on. Never throws. */
export async function runScenario(scenario: Scenario, input: RunInput, admission: Admission): Promise<RunResult> {
  const world = new World({ ...scenario.world, ...input, admission });
  try {
    await scenario.run(world);
    if (!world.faults.struck) throw new Error("the planned crash has not happened: the run was another one");
    return { world, error: undefined };
  } catch (error) {
    return { world, error: error instanceof Error ? error : new Error(String(error)) };
  }
}
