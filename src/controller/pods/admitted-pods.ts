import type { Reason } from "../../api/reasons.ts";
import type { IntentPod, VolumeSource } from "../../api/types.gen.ts";
import type { FileLabel } from "../model/file-label.ts";
import type { PodEntry } from "../model/pod-entry.ts";
import type { Settings } from "../model/set-share.ts";
import type { IntentName, VolumeIdentity } from "../model/volume-identity.ts";

/** What one intent has pods for. */
export interface AdmittedVolume {
  /** What the intent is, if it is to be made. */
  readonly identity: VolumeIdentity | undefined;
  readonly settings: Settings;
  /** The sets that these pods name. */
  readonly sets: ReadonlySet<string>;
  /** As in the spec: by UID and volume. */
  readonly pods: readonly IntentPod[];
}

/** Why a pod does not get a volume, or waits for it. */
export interface RejectionReason {
  readonly reason: Reason;
  readonly message: string;
}

/** Why a volume of a pod is not in any intent, or of no use to it. */
export interface Rejection extends RejectionReason {
  readonly pod: PodEntry;
  /** Name of the volume in the pod. */
  readonly volume: string;
}

/** Pods in the intents of a node, and pods that are in none. */
export interface AdmittedPods {
  /** By name of the intent. */
  readonly volumes: ReadonlyMap<IntentName, AdmittedVolume>;
  readonly rejections: readonly Rejection[];
  /** What is wrong with volumes that pods get all the same. */
  readonly notices: readonly Rejection[];
}

/** The intent that a volume of a pod belongs to. */
export interface Target {
  readonly intentName: IntentName;
  readonly source: VolumeSource;
  readonly identity: VolumeIdentity | undefined;
  readonly settings: Settings;
}

/** One volume of one pod that has found its intent. */
export interface Candidate {
  readonly pod: PodEntry;
  readonly volume: string;
  readonly set: string | undefined;
  readonly entry: Omit<IntentPod, "fsGroup" | "fsGroupChangePolicy">;
  readonly target: Target;
  /** Of the files that the pod would use; null: its containers differ. */
  readonly label: FileLabel | null;
  /** The intent has it already. */
  readonly found: boolean;
}
