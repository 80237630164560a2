import type { DriftClass } from "../../api/status-values.ts";
import type { IntentPod, ObservedVolume } from "../../api/types.gen.ts";
import type { MountEntry } from "../../host/mount-table/mountinfo.ts";

/** A volume that kubelet manages, as the intent says. */
export interface KubeletVolume {
  readonly observed: ObservedVolume;
  readonly block: boolean;
  readonly pods: readonly IntentPod[];
}

/** What the node's mount table shows of it. */
export interface KubeletView {
  /** The staged volume; undefined: nothing is staged, the driver is not asked to, or kubelet's paths are not known. */
  readonly staged?: MountEntry;
  readonly pods: readonly KubeletPod[];
  /** Whether anything of the volume is mounted, also for a pod that is gone from the list. */
  readonly inUse: boolean;
  /** Every path that was looked up: what comes or goes there may change this. */
  readonly points: readonly string[];
}

/** The mount of one pod of a volume that kubelet manages. */
export interface KubeletPod {
  readonly pod: IntentPod;
  /** Where kubelet has it mounted, or will; "" while that is not known. */
  readonly path: string;
  /** The mount that the pod's path leads to. */
  readonly mount?: MountEntry;
  /** Something is mounted there, and no lookup of the path reaches it, or only a part of what kubelet does is done. */
  readonly partly: boolean;
  readonly drift?: DriftClass;
}
