import type { ChildProcessID } from "./types.ts";

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
