import type { Reason } from "../../api/reasons.ts";
import type { IntentPod, VolumeSource } from "../../api/types.gen.ts";
import type { FileLabel } from "../model/file-label.ts";
import type { PodEntry } from "../model/pod-entry.ts";
import type { Settings } from "../model/set-share.ts";
import type { VolumeIdentity } from "../model/volume-identity.ts";

/** What is known of the pods of a node. */
export interface NodePods {
  /** Those that were scheduled to it and have not ended. */
  readonly entries: readonly PodEntry[];
  /** Labels of a Namespace; undefined if there is none. */
  readonly labelsOf: (namespace: string) => { readonly [key: string]: string } | undefined;
  /** Whether there is such a claim; undefined while that is not known. */
  readonly hasClaim: (namespace: string, name: string) => boolean | undefined;
  /** Whether only one pod may use a volume: it is ReadWriteOncePod. */
  readonly isForOnePod: (source: VolumeSource) => boolean;
  /** The group that a claim's PersistentVolume asks for, if it does and is known. */
  readonly groupOf: (source: VolumeSource) => { readonly persistentVolume: string; readonly gid: number } | undefined;
}

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

/** Why a volume of a pod is not in any intent, or of no use to it. */
export interface Rejection {
  readonly pod: PodEntry;
  /** Name of the volume in the pod. */
  readonly volume: string;
  readonly reason: Reason;
  readonly message: string;
}

/** Pods in the intents of a node, and pods that are in none. */
export interface AdmittedPods {
  /** By name of the intent. */
  readonly volumes: ReadonlyMap<string, AdmittedVolume>;
  readonly rejections: readonly Rejection[];
  /** What is wrong with volumes that pods get all the same. */
  readonly notices: readonly Rejection[];
}

/** The intent that a volume of a pod belongs to. */
export interface Target {
  readonly intentName: string;
  readonly source: VolumeSource;
  readonly identity: VolumeIdentity | undefined;
  readonly settings: Settings;
}

/** Why a pod does not get a volume. */
export interface RejectionReason {
  readonly reason: Reason;
  readonly message: string;
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
