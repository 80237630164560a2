import type { IntentPod, UnmountPolicy } from "../../api/types.gen.ts";
import type { FSGroupChangePolicy } from "../../host/ports/ownership.ts";
import type { MountAttributes } from "../../host/ports/types.ts";
import type { Layout, SourceType, VolumeSpec } from "../../plugins/api/volume-plugin.ts";
import type { IntentUID, MountPath, VolumeName } from "./identities.ts";
import type { KubeletVolume } from "./kubelet-view.ts";
import type { PodOfTarget } from "./volume-record.ts";

/** One intent as the planner's input: the desired state of one volume on this node. */
export interface DesiredVolume {
  readonly name: VolumeName;
  readonly uid: IntentUID;
  readonly generation: number;
  /** Revoked: to be released. */
  readonly deleting: boolean;
  readonly mode: "Manage" | "Observe";
  readonly suspend: boolean;
  readonly granted: boolean;
  readonly type: SourceType;
  readonly spec: VolumeSpec;
  readonly layout: Layout;
  /** Targets on the host, and targets of pods for which kubelet has called NodePublishVolume. */
  readonly mounts: readonly DesiredMount[];
  /** Pods that may have the volume here. */
  readonly pods?: readonly IntentPod[];
  readonly unmountPolicy: UnmountPolicy;
  readonly deletionPolicy: "Unmount" | "Retain";
  readonly adopt: "Never" | "IfSame";
  /** Size of the volume at its backend, in bytes. */
  readonly capacityBytes?: string;
  /** Present if kubelet manages the volume: the agent only observes it. */
  readonly kubelet?: KubeletVolume;
}

/** One mount point that an intent asks for: a path of the host, or the target of a pod that kubelet has asked for. */
export interface DesiredMount {
  readonly name: string;
  readonly path: MountPath;
  readonly attributes: MountAttributes;
  /** Group that the files are to belong to. */
  readonly fsGroup?: number;
  readonly fsGroupChangePolicy?: FSGroupChangePolicy;
  /** Of files, where the volume is mounted with one. */
  readonly seLinuxLabel?: string;
  /** The pod that it is for; the path is kubelet's then. */
  readonly pod?: PodOfTarget;
  /** Directory or file of the volume that it shows instead of the whole. */
  readonly subPath?: string;
}

/**
 * An intent that was read but not understood: it blocks its own set-up and causes no teardown (law L7). Its policies
 * are there as far as they could be read: a release needs no more.
 */
export interface InvalidVolume
  extends Pick<DesiredVolume, "name" | "uid" | "generation" | "deleting" | "deletionPolicy" | "unmountPolicy">,
    Pick<VolumeSpec, "key"> {
  /** Each with the field's path. */
  readonly problem: string;
  /** What is wrong, where that has a code of its own. */
  readonly reason?: "DotDotInPath";
  /** Mounts that may have been made while the spec was understood; undefined: none. */
  readonly mayHave?: MayHave;
}

/** As far as a spec that is not understood could be read. */
export interface MayHave {
  /** Where it asks to be mounted; undefined if that could not be read. */
  readonly paths?: readonly MountPath[];
  /** Pods that it names. */
  readonly pods?: readonly Pick<IntentPod, "uid" | "volume">[];
  /** Whether a CSI driver may have staged it. Not every driver's staging is in the mount table. */
  readonly byDriver: boolean;
}

/** An intent of this node as the planner sees it: understood, or invalid. `isInvalid` distinguishes them. */
export type Desired = DesiredVolume | InvalidVolume;

/** PURE. Whether an intent could not be understood. Such a volume is neither set up nor torn down (law L7). */
export function isInvalid(desired: Desired): desired is InvalidVolume {
  return "problem" in desired;
}
