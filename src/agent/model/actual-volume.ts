import type { Reason } from "../../api/reasons.ts";
import type { DriftClass } from "../../api/status-values.ts";
import type { WaitingOn } from "../../errors.ts";
import type { MountEntry } from "../../host/mount-table/mountinfo.ts";
import type { MountAttributes } from "../../host/ports/types.ts";
import type { DesiredMount } from "./desired.ts";
import type { MountPath } from "./identities.ts";
import type { KubeletView } from "./kubelet-view.ts";
import type { StageRecord, TargetRecord } from "./volume-record.ts";

/**
 * Three-valued truth about a mount (law L2). An uncertain mount is set up again if it is desired, torn down if not, and
 * counts as in use.
 */
export type Truth = "mounted" | "absent" | "uncertain";

/** A problem that blocks a volume or target until the mount table or the spec changes. */
export interface Problem {
  readonly reason: Reason;
  readonly message: string;
  readonly on?: WaitingOn;
}

/** Problems of a volume as a whole, and of targets alone, by path. */
export interface Problems {
  readonly volume?: Problem;
  readonly targets: ReadonlyMap<MountPath, Problem>;
}

export const noProblems: Problems = { targets: new Map() };

/** An unresponsive server. `said` is the error, if the server or the kernel has returned one. */
export interface ServerUnresponsive extends Problem {
  readonly said?: string;
}

/**
 * Whether a mount without a record is the volume's:
 * - own: it shows what only this agent makes, and only for this volume (safety rule 24).
 * - same: it shows the source that the spec names, mounted by us or by someone else.
 * - filesystem: it shows another directory of the same file system: the volume, if its directory was renamed.
 * - other: it is not this volume.
 */
export type MountMatch = "own" | "same" | "filesystem" | "other";

/** The staged volume, by the table and the record. */
export interface ActualStage {
  readonly truth: Truth;
  readonly record?: StageRecord;
  /** The mount on the staging path, for a staged file system. */
  readonly mount?: MountEntry;
  readonly problem?: Problem;
  readonly drift?: DriftClass;
}

/** A target that is desired, recorded, or both. */
interface Target {
  readonly path: MountPath;
  readonly name: string;
  readonly desired?: DesiredMount;
  readonly record?: TargetRecord;
  /** The mount there that is ours, topmost or not; or elsewhere, if a directory above was renamed (TargetMoved). */
  readonly ours?: MountEntry;
  /** The topmost mount there, if it is not ours. */
  readonly foreign?: MountEntry;
  readonly problem?: Problem;
  readonly drift?: DriftClass;
}

/** A target that is mounted, compared with its record and its spec. */
export interface MountedTarget extends Target {
  readonly truth: "mounted";
  /** It shows something else than the volume does now: it has to be replaced. */
  readonly outdated: boolean;
  readonly attributesDiffer: boolean;
  /**
   * Its files have another group or label than the spec asks for. It is not remounted for that alone, because a remount
   * may be blocked.
   */
  readonly ownershipDiffers?: boolean;
  /** The node's copy of this mount differs from the agent's, so that it has to be mounted anew. */
  readonly differsOnNode?: boolean;
  /** Flags of the node's copy, if they differ from the spec: flags do not propagate. Undefined: there is no copy. */
  readonly flagsOnNode?: MountAttributes;
  /**
   * For a CSI volume, the state of the mount that the driver published: present; covered by a mount that the driver
   * made when it was called again; gone; or another mount.
   */
  readonly published?: "there" | "covered" | "gone" | "differs";
  readonly mountMatch?: never;
}

/** A target that is not mounted, or of which that is not known: there is nothing to compare. */
export interface UnmountedTarget extends Target {
  readonly truth: "absent" | "uncertain";
  /** How the foreign mount compares with the volume, if no record identifies it. */
  readonly mountMatch?: MountMatch;
  readonly outdated?: never;
  readonly attributesDiffer?: never;
  readonly ownershipDiffers?: never;
  readonly differsOnNode?: never;
  readonly flagsOnNode?: never;
  readonly published?: never;
}

/** The actual state of one target that is desired, recorded, or both. */
export type ActualTarget = MountedTarget | UnmountedTarget;

/** Mounts that may belong to an intent which is not understood and has no record left. */
export interface UnreadView {
  /** Paths that were looked up. */
  readonly points: readonly string[];
  /** The reason why its absence cannot be proved. */
  readonly problem?: Problem;
}

/** Actual state of one volume: record and mount table taken together, at the moment of one look. */
export interface ActualVolume {
  readonly stage: ActualStage;
  readonly targets: readonly ActualTarget[];
  /** Whether the volume may be staged or mounted here, by the kernel's evidence and the record. */
  readonly inUse: boolean;
  /** Present for a volume that kubelet manages; the other members are empty then. */
  readonly kubelet?: KubeletView;
  /** Present for an intent that is not understood. */
  readonly unread?: UnreadView;
}

/**
 * Whether a target is mounted in the agent's and in the node's mount namespace: a mount that only the agent has serves
 * no user (law L10).
 */
export function isMounted({ truth, differsOnNode, flagsOnNode }: ActualTarget): boolean {
  return truth === "mounted" && (differsOnNode !== true || flagsOnNode !== undefined);
}

/** Whether a target is in sync with its spec. */
export function isInSync(target: ActualTarget): boolean {
  const shows = target.truth === "mounted" && !target.outdated && target.differsOnNode !== true;
  return shows && !target.attributesDiffer && target.ownershipDiffers !== true;
}
