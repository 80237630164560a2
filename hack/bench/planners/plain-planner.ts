import { isDeepStrictEqual } from "node:util";
import type { VolumeName } from "../../../src/agent/model/identities.ts";
import type { PlanInput } from "../../../src/agent/model/plan-input.ts";
import type { Plan, VolumePlan } from "../../../src/agent/model/volume-plan.ts";
import { PathOwners } from "../../../src/agent/planner/path-owners.ts";
import { planVolume } from "../../../src/agent/planner/plan-volume.ts";

/**
 * In place of the incremental planner: plans every volume each time. `changed` has the volumes whose plan is another
 * one, so that what follows the plans has no more to do than usual.
 */
export class PlainPlanner {
  #volumes: ReadonlyMap<VolumeName, VolumePlan> = new Map();

  plan(input: PlanInput): Plan {
    const before = this.#volumes;
    const volumes = plainPlan(input);
    this.#volumes = volumes;
    const changed = new Map<VolumeName, VolumePlan | undefined>();
    for (const [name, volume] of volumes) {
      const was = before.get(name);
      if (was === undefined || !isSame(was, volume)) changed.set(name, was);
    }
    for (const [name, was] of before) if (!volumes.has(name)) changed.set(name, was);
    const operations = [...volumes.values()].flatMap((volume) => volume.operation ?? []);
    const waits = [...volumes.values()].flatMap((volume) => volume.retryAt ?? []);
    const wakeAt = waits.length === 0 ? {} : { wakeAt: Math.min(...waits) };
    return { synced: input.synced, volumes, changed, operations, ...wakeAt };
  }

  forget(): void {}

  recheck(): void {}
}

/** The parts that differ most often come first. */
function isSame(a: VolumePlan, b: VolumePlan): boolean {
  if (a.desired !== b.desired || a.record !== b.record || a.running !== b.running || a.phase !== b.phase) return false;
  return isDeepStrictEqual(a, b);
}

/** PURE. Every volume's plan, as plan() of test/lib/builders/plan-whole.ts makes it. */
function plainPlan(input: PlanInput): Map<VolumeName, VolumePlan> {
  const names = new Set([...input.desired.keys(), ...input.records.keys()]);
  const owners = new PathOwners();
  for (const name of names) owners.set(name, input.desired.get(name), input.records.get(name));
  return new Map([...names].map((name) => [name, planVolume(name, input, owners)]));
}
