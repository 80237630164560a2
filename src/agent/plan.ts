import type { Desired } from "./desired-volume.ts";
import type { Failure } from "./failures.ts";
import type { VolumeHealth } from "./model/volume-health.ts";
import type { Operation, OperationKind } from "./operations.ts";
import type { VolumeRecord } from "./record.ts";
import type { Problem, VolumeView } from "./view.ts";

/**
 * What is to become of one volume, and where it stands.
 *
 *                 ┌─ invalid        not understood: nothing is done
 *   intent ───────┼─ observe        compared only
 *                 ├─ ungranted      nothing is touched
 *                 ├─ setUp          towards the spec
 *                 └─ tearDown ──────► released │ retained
 *   no intent ────┬─ tearDown       if it was seen to be deleted
 *                 └─ unexplained    kept as it is (law L8)
 */
export type Phase =
  | "invalid"
  | "observe"
  | "ungranted"
  | "setUp"
  | "tearDown"
  | "released"
  | "retained"
  | "unexplained";

/**
 * All that was decided for one volume at one look, with the evidence: status, Events and metrics are computed from it.
 */
export interface VolumePlan {
  readonly name: string;
  readonly phase: Phase;
  readonly desired?: Desired;
  readonly record?: VolumeRecord;
  readonly view: VolumeView;
  /** To be started now. */
  readonly operation?: Operation;
  /** Runs already: the volume gets no second one (law L4). */
  readonly running?: OperationKind;
  /** What runs was begun for an earlier spec, and may yet change what this one has mounted. */
  readonly superseded?: true;
  /** What stands in the way, of the volume as a whole ("") or of a target, by path. */
  readonly problems: ReadonlyMap<string, Problem>;
  /** Why it goes on as it was mounted, and not as the spec says by now. */
  readonly behind?: Problem;
  /** What its child waits for that does not end. */
  readonly hanging?: Problem;
  /** The last failure of a step that is still to be done. */
  readonly failure?: Failure;
  /** Milliseconds of the monotonic clock at which a step that failed may be tried again, or another is due. */
  readonly retryAt?: number;
  /** Its server does not answer, although it is mounted. */
  readonly silent?: Problem;
  /** What its CSI driver says of its state. */
  readonly health?: VolumeHealth;
  /** Steps that are left, as text. */
  readonly pending: readonly string[];
}

/**
 * The result of one look over all volumes. `volumes` is kept up in place by the planner: copy what is to outlive the
 * next plan.
 */
export interface Plan {
  /** Whether the intents were read completely: before that a volume without one says nothing. */
  readonly synced: boolean;
  readonly volumes: ReadonlyMap<string, VolumePlan>;
  /** Volumes that were planned anew, with the plan that they had; those that are gone are among them. */
  readonly changed: ReadonlyMap<string, VolumePlan | undefined>;
  /**
   * Of `changed`, volumes that nothing had said to plan anew, and whose plan is another one all the same: a fault of
   * ours.
   */
  readonly unexplained?: readonly string[];
  readonly operations: readonly Operation[];
  /** Milliseconds of the monotonic clock at which a failed operation may be tried again. */
  readonly wakeAt?: number;
}
