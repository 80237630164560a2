/** What kubelet, container runtimes and drivers leave behind. */
export interface Traces {
  /** UIDs of the pods that have a cgroup: kubelet makes it before anything of them runs. Undefined if there is none of any pod. */
  pods(): Promise<ReadonlySet<string> | undefined>;
  staleLoops(): Promise<readonly StaleLoop[]>;
}

/** A loop device whose file was removed. */
export interface StaleLoop {
  readonly path: string;
  readonly deviceNumber: string;
  /** Where its file was. */
  readonly backing: string;
}
