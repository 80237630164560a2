import type { Admission } from "./api/admission.ts";
import type { Network } from "./api/sim-transport.ts";
import type { CrashPoint, Effect } from "./faults.ts";
import type { AgentPlace } from "./kernel/agent-namespace.ts";
import type { Scenario } from "./scenarios/scenario.ts";
import { World } from "./world.ts";

export interface RunInput {
  readonly seed: number;
  readonly admission: Admission;
  readonly place?: AgentPlace;
  readonly crash?: CrashPoint | undefined;
  readonly network?: Partial<Network>;
}

export interface RunResult {
  readonly effects: readonly Effect[];
  readonly world: World;
  /** Why it failed. */
  readonly error: Error | undefined;
}

/** Tells one story in a world of its own, from the first start of the agents on. Never throws. */
export async function runScenario(scenario: Scenario, input: RunInput): Promise<RunResult> {
  const world = new World({ ...scenario.world, ...input });
  try {
    await scenario.run(world);
    if (!world.faults.struck) throw new Error("the planned crash has not happened: the run was another one");
    return { effects: world.faults.effects, world, error: undefined };
  } catch (error) {
    return { effects: world.faults.effects, world, error: error instanceof Error ? error : new Error(String(error)) };
  }
}
