import type { OperationKind } from "../../../src/agent/model/operation.ts";

/**
 * A world, as what was chosen for it: plain data, which fast-check can shrink and print. build.ts makes the objects,
 * the journal and the mount table of it. Each choice is independent of the others, so that worlds are reached that
 * nobody thought of; usual choices have more weight, so that most volumes are whole but for one or two things.
 */
export interface WorldChoice {
  readonly volumes: readonly VolumeChoice[];
  /** What the table shows on each path, by its index in `paths`. */
  readonly sights: readonly Sight[];
  readonly synced: boolean;
  readonly tableReadable: boolean;
  /** Whether the journal was damaged: else no record says that nothing was done. */
  readonly mayHaveLost: boolean;
  /** A foreign mount on the prefix itself, which hides all mounts beneath it. */
  readonly covered: boolean;
  /** Whether what is nested was mounted before what is above it, which hides it. */
  readonly deepFirst: boolean;
  /** Whether mounts propagate, as on most nodes. */
  readonly shared: boolean;
  /** Whether the agent is in a mount namespace of its own, and what the node then has of each mount. */
  readonly node: "none" | "same" | "missing" | "otherFlags";
}

export const volumeTypes = [
  "memory",
  "disk",
  "hostPath",
  "device",
  "block",
  "configMap",
  "secret",
  "nfs",
  "directory",
] as const;

export type VolumeType = (typeof volumeTypes)[number];

export interface VolumeChoice {
  readonly type: VolumeType;
  /** Undefined: there is no intent, or not any more. */
  readonly intent: IntentChoice | undefined;
  /** Undefined: nothing was done for the volume, or the journal was lost. */
  readonly record: RecordChoice | undefined;
  readonly staging: StagingSight;
  readonly pendingOperations: OperationKind | undefined;
  readonly failures: readonly FailureChoice[];
  readonly contentKnown: boolean;
  readonly observed: "no" | "older" | "nothing" | "source";
}

export interface IntentChoice {
  readonly deleting: boolean;
  readonly observe: boolean;
  readonly granted: boolean;
  readonly suspend: boolean;
  readonly adopt: boolean;
  readonly retain: boolean;
  readonly unmountMax: "Normal" | "Force" | "Lazy";
  /** A field that cannot be understood, by its index in `breakages`. */
  readonly broken: number | undefined;
  /** Which of two option lists of the file system. */
  readonly options: 0 | 1;
  readonly mounts: readonly MountChoice[];
}

export interface MountChoice {
  readonly path: number;
  /** Whether it goes by the name of the first path, as a mount does that was moved from there. */
  readonly moved: boolean;
  readonly readOnly: boolean;
  readonly noexec: boolean;
}

export interface RecordChoice {
  /** Whether the record is of the intent that is there, or of one before it with the same name. */
  readonly sameUID: boolean;
  /** Generation that was acted for last, as against that of the intent. */
  readonly generation: "older" | "same" | "newer";
  readonly stage: StageChoice | undefined;
  readonly targets: readonly TargetChoice[];
  readonly child: boolean;
  readonly retained: boolean;
  readonly revoked: boolean;
  /** Whether the machine has rebooted since it was written. */
  readonly rebooted: boolean;
}

export interface StageChoice {
  readonly ready: boolean;
  readonly identityKnown: boolean;
  readonly options: 0 | 1;
  readonly contentOld: boolean;
}

export interface TargetChoice {
  readonly path: number;
  /** Whether it was mounted for the intent that is recorded, or for one before it. */
  readonly sameUID: boolean;
  /** What was learned of the mount. The kernel gives the id of a mount that went to the next one. */
  readonly known: "id" | "reusedID" | "peerGroup" | "nothing";
  readonly flagsAsWanted: boolean;
  /** Whether it was bound from what is staged now, or from what was staged before. */
  readonly current: boolean;
  readonly made: boolean;
}

/** What the table shows where a target is, or could be. `ours`: what the record says, if there is a record. */
export type Sight =
  | "ours"
  | "absent"
  | "foreign"
  | "renamed"
  | "otherFlags"
  | "foreignOver"
  | "foreignUnder"
  | "twice"
  | "unrecorded";

export type StagingSight = "unrecorded" | "ours" | "absent" | "foreign" | "foreignOver" | "twice" | "readOnly";

export interface FailureChoice {
  /** Of the volume as a whole, or of one path. */
  readonly path: number | undefined;
  readonly kind: OperationKind;
  readonly sameGeneration: boolean;
  readonly due: boolean;
  readonly reason: "TargetBusy" | "OptionsRefused" | "SetUpFailed" | "TimedOut";
  /** Milliseconds since the first attempt. */
  readonly sinceMs: number;
}
