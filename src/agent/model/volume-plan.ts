import type { MountTable } from "../../host/mount-table/mount-table.ts";
import type { ActualVolume, Problem, Problems } from "./actual-volume.ts";
import type { Desired } from "./desired.ts";
import type { Failure } from "./failure.ts";
import type { VolumeName } from "./identities.ts";
import type { Operation, OperationKind } from "./operation.ts";
import type { VolumeRecord } from "./volume-record.ts";

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

/** All that was decided for one volume at one look, with the evidence: status, Events and metrics come from it. */
export interface VolumePlan {
  readonly name: VolumeName;
  readonly phase: Phase;
  readonly desired?: Desired;
  readonly record?: VolumeRecord;
  readonly actualState: ActualVolume;
  /** To be started now. */
  readonly operation?: Operation;
  /** Runs already: the volume gets no second one (law L4). */
  readonly running?: OperationKind;
  /** The running operation was started for an earlier spec, and may still change the mounts of this one. */
  readonly superseded?: true;
  readonly problems: Problems;
  /** The reason why the volume keeps its old options although the spec has changed. */
  readonly behind?: Problem;
  /** What a blocked child process waits for. */
  readonly stuckOperation?: Problem;
  /** The last failure of a step that is still to be done. */
  readonly failure?: Failure;
  /** Milliseconds of the monotonic clock at which a failed step is retried, or another step is due. */
  readonly retryAt?: number;
  /** Its server does not answer, although it is mounted. */
  readonly unresponsive?: Problem;
  /** The volume's condition, as its CSI driver reports it. */
  readonly health?: VolumeHealth;
  /** Steps that are left, as text. */
  readonly pending: readonly string[];
}

/** The result of one look over all volumes. `volumes` is changed in place: copy what is to outlive the next plan. */
export interface Plan {
  /** Whether all intents have been read. Before that, a missing intent means nothing. */
  readonly synced: boolean;
  readonly volumes: ReadonlyMap<VolumeName, VolumePlan>;
  /** Volumes that were replanned, each with its plan before; volumes that are gone are among them. */
  readonly changed: ReadonlyMap<VolumeName, VolumePlan | undefined>;
  /** Volumes of `changed` whose plan was stale although no change had been reported: a bug of the agent. */
  readonly unexplained?: readonly string[];
  readonly operations: readonly Operation[];
  /** Milliseconds of the monotonic clock at which the next failed operation is retried. */
  readonly wakeAt?: number;
}

/** The condition of a volume as its CSI driver reports it (VOLUME_CONDITION). A change makes a new object. */
export interface VolumeHealth {
  readonly abnormal: boolean;
  readonly message: string;
}

/** A part of the agent that follows its plans. */
export interface PlanListener {
  /**
   * Called with each plan, once its operations have been started.
   * @param table the mount table that the plan was made from; undefined if it could not be read
   */
  planned(plan: Plan, table: MountTable | undefined): void;
}
