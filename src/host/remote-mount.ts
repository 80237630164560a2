import type { ChildProcessID } from "./ports.ts";

/** A mount of a file system that may wait for somebody: a server, a FUSE process. */
export interface RemoteMount {
  readonly fsType: string;
  readonly source: string;
  readonly point: string;
}

/** A child that has taken longer than what only asks a file system that answers. */
export interface SlowChild {
  readonly child: ChildProcessID;
  /** What it waits for; undefined if the path does not tell: it has a symbolic link, or the wait is for a disk. */
  readonly waitsFor?: RemoteMount;
}

/** For people. */
export function describeRemote({ fsType, source, point }: RemoteMount): string {
  return `${fsType} (${source}) at ${point}`;
}

/** Whose answer a mount waits for: all exports of an NFS server hang together, each other mount by itself. */
export function serverOf({ fsType, source, point }: RemoteMount): string {
  const host = /^nfs4?$/.test(fsType) ? /^(.+?):\//.exec(source)?.[1] : undefined;
  return host === undefined ? point : `nfs ${host}`;
}
