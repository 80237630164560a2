import type { RemoteMount } from "./remote-mount.ts";

/** Asks file systems that come from a server whether it still answers; nothing else on the node tells that. */
export interface Servers {
  /**
   * Asks for the size of the file system (statfs), in a process of its own: at most one a mount. Never rejects, and
   * answers after `deadlineMs` at the latest. One that is asked for again while the kernel still holds the last one
   * does not answer.
   */
  ask(mount: RemoteMount, deadlineMs: number): Promise<ServerAnswer>;
  /**
   * Whether a disk that comes from afar works, by what the kernel has of it: nothing is asked of the disk.
   * @param deviceNumber `major:minor`
   */
  disk(deviceNumber: string): ServerAnswer;
  /**
   * Errors that the kernel has met in the ext2, ext3 or ext4 that is mounted of a device; undefined if none.
   * @param deviceNumber `major:minor`
   */
  errors(deviceNumber: string): FileSystemErrors | undefined;
  /** Ends the process that asks, so that it does not keep the mount busy. */
  giveUp(point: string): void;
}

/** Errors that the kernel has counted for a mounted file system (ext4: errors_count in sysfs). */
export interface FileSystemErrors {
  readonly count: number;
  /** Of the last one: EIO, EFSCORRUPTED … */
  readonly code: string;
  /** Function of the kernel that met it. */
  readonly where: string;
}

/** `said`: the error, of a server that answers with one or that the kernel has given up. */
export type ServerAnswer = { readonly answers: true } | { readonly answers: false; readonly said?: string };
