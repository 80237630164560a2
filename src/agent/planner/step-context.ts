import type { ActualVolume, Problem } from "../model/actual-volume.ts";
import type { Action } from "../model/operation.ts";
import type { PlanInput } from "../model/plan-input.ts";
import type { VolumeRecord } from "../model/volume-record.ts";
import type { PathOwners } from "./path-owners.ts";

/** The steps of one volume in order of preference, and the problems that block others. */
export interface Steps {
  readonly actions: readonly Action[];
  /** Of the volume as a whole ("") or of one target, by path. */
  readonly problems: ReadonlyMap<string, Problem>;
  /** The reason why the volume keeps its old options although the spec has changed. */
  readonly behind?: Problem;
  /** Milliseconds of the monotonic clock at which a further step is due. */
  readonly dueAt?: number;
}

/** Arguments that the functions which list the steps of one volume share. */
export interface StepContext {
  readonly input: PlanInput;
  readonly owners: PathOwners;
  readonly actualState: ActualVolume;
  readonly record: VolumeRecord | undefined;
}
