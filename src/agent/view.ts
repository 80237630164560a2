import type { Reason } from "../api/reasons.ts";
import type { DriftClass } from "../api/status-values.ts";
import type { WaitingOn } from "../errors.ts";
import type { MountEntry } from "../host/mountinfo.ts";
import type { MountAttributes } from "../host/ports/types.ts";
import type { DesiredMount } from "./desired-volume.ts";
import type { KubeletView } from "./observe/kubelet-view.ts";
import type { StageRecord, TargetRecord } from "./record.ts";

/**
 * Law L2: three truths, not two. Uncertain is set up again when wanted, torn down when not, and counts as in use.
 */
export type Truth = "mounted" | "absent" | "uncertain";

/** Why something cannot go on as things are, until the table or the spec changes. */
export interface Problem {
  readonly reason: Reason;
  readonly message: string;
  readonly on?: WaitingOn;
}

/** A server that does not answer; `said`: the error, if it or the kernel has answered with one. */
export interface Silence extends Problem {
  readonly said?: string;
}

/**
 * Whether a mount without a record is the volume's:
 * - own: it shows what only this agent makes, and only for this volume (safety rule 24).
 * - same: it shows the source that the spec names, mounted by us or by someone else.
 * - filesystem: it shows another directory of the same file system: the volume, if its directory was renamed.
 * - other: it is not this volume.
 */
export type Likeness = "own" | "same" | "filesystem" | "other";

/** The staged volume, by the table and the record. */
export interface StageView {
  readonly truth: Truth;
  readonly record?: StageRecord;
  /** The mount on the staging path, for a staged file system. */
  readonly mount?: MountEntry;
  readonly problem?: Problem;
  readonly drift?: DriftClass;
}

/** One mount point: wanted, recorded, or both, and what the table shows there. */
export interface TargetView {
  readonly path: string;
  readonly name: string;
  readonly desired?: DesiredMount;
  readonly record?: TargetRecord;
  readonly truth: Truth;
  /** The mount there that is ours, topmost or not; or elsewhere, if a directory above was renamed (TargetMoved). */
  readonly ours?: MountEntry;
  /** The topmost mount there, if it is not ours. */
  readonly foreign?: MountEntry;
  /** How like the volume that is, where no record says whose it is. */
  readonly likeness?: Likeness;
  /** It shows something else than the volume does now: it has to be replaced. */
  readonly outdated: boolean;
  readonly attributesDiffer: boolean;
  /**
   * Its files have another group or label than it asks for. It is not replaced for it: somebody may stand in the way.
   */
  readonly ownershipDiffers?: boolean;
  /** What the node has of this mount differs from what the agent has, so that it has to be made anew. */
  readonly differsOnNode?: boolean;
  /**
   * Flags of the node's copy, if they differ from those of the spec: flags do not propagate. None: there is no copy.
   */
  readonly flagsOnNode?: MountAttributes;
  /**
   * What the driver published for it, of a CSI volume: there, there and covered by what the driver has mounted when it
   * was called again, gone, or another mount.
   */
  readonly published?: "there" | "covered" | "gone" | "differs";
  readonly problem?: Problem;
  readonly drift?: DriftClass;
}

/** What the table shows where an intent that is not understood may have something of which no record is left. */
export interface UnreadView {
  /** Paths that were looked up. */
  readonly points: readonly string[];
  /** Why it cannot be said that nothing of it is there. */
  readonly problem?: Problem;
}

/** Actual state of one volume: record and mount table taken together, at the moment of one look. */
export interface VolumeView {
  readonly stage: StageView;
  readonly targets: readonly TargetView[];
  /** Whether the volume may be staged or mounted here, by the kernel's evidence and the record. */
  readonly inUse: boolean;
  /** Of a volume that kubelet manages; then nothing else is looked at. */
  readonly kubelet?: KubeletView;
  /** Of an intent that is not understood. */
  readonly unread?: UnreadView;
}

/** Mounted, and on the node too, where its users are: a mount that only the agent has serves nobody (law L10). */
export function isShown({ truth, differsOnNode, flagsOnNode }: TargetView): boolean {
  return truth === "mounted" && (differsOnNode !== true || flagsOnNode !== undefined);
}

/** Mounted, and showing what the spec says. */
export function isAsWanted(target: TargetView): boolean {
  const shows = target.truth === "mounted" && !target.outdated && target.differsOnNode !== true;
  return shows && !target.attributesDiffer && target.ownershipDiffers !== true;
}
