/** A path that something is mounted on: beneath `prefix`, without any symbolic link between the two. */
export interface TargetPath {
  readonly prefix: string;
  readonly path: string;
}

/** Flags of one mount, all of them, so that nothing depends on what was there before. */
export interface MountAttributes {
  readonly readOnly: boolean;
  readonly nosuid: boolean;
  readonly nodev: boolean;
  readonly noexec: boolean;
  readonly nosymfollow: boolean;
  readonly nodiratime: boolean;
  readonly atime: "relatime" | "noatime" | "strictatime";
}

/** A process, told from later ones with the same pid by its start time in clock ticks since boot. */
export interface ChildProcessID {
  readonly pid: number;
  readonly startTime: number;
}
