import type { LookedAt } from "./block-layers.ts";
import type { MountAttributes, TargetPath } from "./types.ts";

/**
 * A file system to mount, and where: the arguments of fsopen, fsconfig, fsmount and move_mount (mount(8) for helpers).
 */
export interface FilesystemMount {
  readonly fsType: string;
  /** What stands in the source column: a device path, `server:/export`, a name for tmpfs. */
  readonly source: string;
  readonly options: readonly string[];
  readonly attributes: MountAttributes;
  readonly target: TargetPath;
  /**
   * The block device that was looked at: right before it is mounted it is proved to be that one still, and that nobody
   * else has it, but for who only reads it. Else DeviceBusy or SetUpFailed.
   */
  readonly device?: Pick<LookedAt, "deviceNumber" | "identity">;
  /** Whom a server is to take us for: handed to the program that mounts, shown and kept nowhere. */
  readonly credentials?: MountCredentials;
}

/** Credentials of a network file system. They never appear on a command line or in an error. */
export interface MountCredentials {
  readonly username: string;
  readonly password: string;
  readonly domain?: string;
}
