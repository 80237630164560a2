import type { PlanInput } from "../../../src/agent/model/plan-input.ts";
import type { Plan } from "../../../src/agent/model/volume-plan.ts";
import { PathOwners } from "../../../src/agent/planner/path-owners.ts";
import { planVolume } from "../../../src/agent/planner/plan-volume.ts";

/**
 * PURE: desired and actual world → what to start now. Says the same for the same input, starts at most one operation a
 * volume, and an input that needs nothing gets nothing (law L5). Of a plan that is made as a whole all volumes are new.
 * What the agent runs is Planner, which keeps its plan up: this is its specification (decision 0002).
 */
export function plan(input: PlanInput): Plan {
  const names = [...new Set([...input.desired.keys(), ...input.records.keys()])];
  const owners = new PathOwners();
  for (const name of names) owners.set(name, input.desired.get(name), input.records.get(name));
  const volumes = new Map(names.map((name) => [name, planVolume(name, input, owners)]));
  const changed = new Map(names.map((name) => [name, undefined]));
  const operations = [...volumes.values()].flatMap((volume) => volume.operation ?? []);
  const waits = [...volumes.values()].flatMap((volume) => volume.retryAt ?? []);
  const { synced } = input;
  return { synced, volumes, changed, operations, ...(waits.length === 0 ? {} : { wakeAt: Math.min(...waits) }) };
}
