import type { Reason } from "../../api/reasons.ts";
import type { PodIdentity } from "../client/pod-tokens.ts";

/** One volume of one pod, as kubelet's target path names it. */
export interface PodTarget {
  readonly podUID: string;
  /** Name of the volume in the pod. */
  readonly volume: string;
  /** Where kubelet wants it: `<kubelet-dir>/pods/<podUID>/volumes/kubernetes.io~csi/<volume>/mount`. */
  readonly path: string;
}

/** A NodePublishVolume call with pod info (behaviour 105). */
export interface PodPublish extends PodTarget {
  readonly namespace: string;
  readonly podName: string;
  /** What the pod's volumeAttributes name. */
  readonly wants: { readonly set: string } | { readonly persistentVolumeClaim: string };
  readonly readOnly: boolean;
  /** kubelet has every container mount it read-only: csi.readOnly of the pod's volume. */
  readonly containersRead: boolean;
  /** Relative path beneath the volume. */
  readonly subPath?: string;
  /** Who the pod is, where kubelet hands over tokens of it. To be kept in memory alone, and for this target. */
  readonly identity?: PodIdentity;
}

/** Binds volumes of the node into pods. What the driver for pods rests on; the agent implements it. */
export interface PodVolumes {
  /**
   * Resolves once the mount table shows the volume where the pod wants it. Waits for the intent to name the pod, and
   * for the volume to be mounted. When `signal` aborts first, what was begun is undone (safety rule 19).
   * @throws PodVolumeError
   */
  publish(request: PodPublish, signal: AbortSignal): Promise<void>;
  /**
   * Resolves once the table shows nothing of ours at the path, and the mount point is gone; also if there never was
   * anything. Undoes exactly what publish did.
   * @throws PodVolumeError
   */
  unpublish(target: PodTarget, signal: AbortSignal): Promise<void>;
}

/** Why a pod does not have its volume, or still has it. */
export class PodVolumeError extends Error {
  override readonly name = "PodVolumeError";
  readonly reason: Reason;
  /** `waiting`: it may still come about, or be undone. `refused`: not as things are, and nothing was begun. */
  readonly kind: "waiting" | "refused";

  constructor(kind: PodVolumeError["kind"], reason: Reason, message: string) {
    super(message);
    this.kind = kind;
    this.reason = reason;
  }
}
