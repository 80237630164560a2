import { isDeepStrictEqual } from "node:util";
import type { PlanInput } from "../../../src/agent/model/plan-input.ts";
import type { Plan } from "../../../src/agent/model/volume-plan.ts";
import { Planner } from "../../../src/agent/planner/incremental/incremental-planner.ts";
import { plan } from "../../lib/builders/plan-whole.ts";

/** The planner of an agent, each of whose plans is compared with one that is made as a whole. */
export class ComparedPlanner extends Planner {
  readonly #onDifference: (what: string) => void;

  constructor(onDifference: (what: string) => void) {
    super();
    this.#onDifference = onDifference;
  }

  override plan(input: PlanInput): Plan {
    const whole = plan(input);
    const kept = super.plan(input);
    const same = isDeepStrictEqual(kept.volumes, whole.volumes) && kept.wakeAt === whole.wakeAt;
    if (!same || !isDeepStrictEqual(new Set(kept.operations), new Set(whole.operations))) {
      this.#onDifference("the plan that was kept up is not what a new one says");
    }
    return kept;
  }
}
