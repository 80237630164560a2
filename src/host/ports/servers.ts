import type { ChildProcessID } from "./types.ts";

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

/**
 * A mount of a file system that may wait for somebody: a server, a FUSE process. Or a program of the node's that runs.
 */
export interface RemoteMount {
  readonly fsType: string;
  readonly source: string;
  readonly point: string;
  /** It is no mount: `source` is what the program at `point` was told to do. */
  readonly program?: boolean;
}

/** A child that has taken longer than what only asks a file system that answers. */
export interface SlowChild {
  readonly child: ChildProcessID;
  /** What it waits for; undefined if the path does not tell: it has a symbolic link, or the wait is for a disk. */
  readonly waitsFor?: RemoteMount;
}

/** For people. */
export function describeRemote({ fsType, source, point, program }: RemoteMount): string {
  if (program === true) return `${point} ${source}`;
  return `${fsType} (${source}) at ${point}`;
}

/** The same as what is waited for. */
export function waitedFor({ point, program }: RemoteMount): { readonly kind: string; readonly name: string } {
  return { kind: program === true ? "Program" : "Mount", name: point };
}

/**
 * Whose answer a mount waits for: all exports of an NFS server hang together, all shares of one of SMB, what the
 * kernel's client has of one Ceph cluster, and the images of one, whoever maps them; each other by itself.
 */
export function serverOf({ fsType, source, point }: RemoteMount): string {
  if (/^(cifs|smb3)$/.test(fsType)) return `smb ${source.split("/")[2]}`;
  const kind = /^nfs4?$/.test(fsType) ? "nfs" : fsType === "ceph" || fsType === "rbd" ? fsType : undefined;
  const host = kind && /^(.+?):\//.exec(source)?.[1];
  return host === undefined ? point : `${kind} ${host}`;
}

/**
 * PURE. Whether what a mount shows is of a server: `//host/share`, `host:/path`, `[v6]:/path`. Names of disks have
 * colons as well (/dev/disk/by-path).
 */
export function isOfServer(source: string): boolean {
  return /^\/\/[^/]|^[^/]+:\//.test(source);
}
