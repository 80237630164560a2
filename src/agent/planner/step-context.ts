import type { ActualVolume, Problem, Problems } from "../model/actual-volume.ts";
import type { MountPath } from "../model/identities.ts";
import type { Action } from "../model/operation.ts";
import type { PlanInput } from "../model/plan-input.ts";
import type { VolumeRecord } from "../model/volume-record.ts";
import type { PathOwners } from "./path-owners.ts";

/** The steps of one volume in order of preference, and the problems that block others. */
export interface Steps {
  readonly actions: readonly Action[];
  readonly problems: Problems;
  /** The reason why the volume keeps its old options although the spec has changed. */
  readonly behind?: Problem;
  /** Milliseconds of the monotonic clock at which a further step is due. */
  readonly dueAt?: number;
}

/** Where the functions that list the steps of one volume put its problems. */
export interface FoundProblems extends Problems {
  volume?: Problem;
  readonly targets: Map<MountPath, Problem>;
}

/** Arguments that the functions which list the steps of one volume share. */
export interface StepContext {
  readonly input: PlanInput;
  readonly owners: PathOwners;
  readonly actualState: ActualVolume;
  readonly record: VolumeRecord | undefined;
}
