import type { MountIdentity } from "../mount-table/mount-identity.ts";
import type { Holder } from "./holder.ts";

/** What kubelet, container runtimes and drivers leave behind. */
export interface Traces {
  /**
   * UIDs of the pods that have a cgroup: kubelet makes it before anything of them runs. Undefined if there is none of
   * any pod.
   */
  pods(): Promise<ReadonlySet<string> | undefined>;
  staleLoops(): Promise<readonly StaleLoop[]>;
  /**
   * What kubelet wrote down before it had a driver stage a volume, beside the mount point; undefined if that is not to
   * be read.
   */
  stagedVolume(directory: string): Promise<StagedVolume | undefined>;
  /**
   * Processes in whose mount namespace `identity`, or anything beneath it, is mounted on any other path than one that
   * ends in `tail`, or without hearing of unmounts elsewhere: the first such mount of each namespace. Rejects if one
   * cannot be read.
   */
  shownApart(identity: MountIdentity, tail: string): Promise<readonly Holder[]>;
}

/** Of vol_data.json. Proves nothing by itself: whoever may write there has written it. */
export interface StagedVolume {
  readonly driver: string;
  readonly volumeHandle: string;
}

/** A loop device whose file was removed. */
export interface StaleLoop {
  readonly path: string;
  readonly deviceNumber: string;
  /** Where its file was. */
  readonly backing: string;
}
