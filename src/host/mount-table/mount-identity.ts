import { joinPath } from "./mount-paths.ts";
import type { MountEntry } from "./mountinfo.ts";

/** What a mount shows: a directory or file `root` of the file system on `device`. Two binds of one thing are equal. */
export interface MountIdentity {
  readonly device: string;
  readonly root: string;
  /**
   * Of a file system without a device: its source, which all its mounts share. The number alone would not do: it is
   * free with the last unmount, and the next file system gets it.
   */
  readonly source?: string;
}

/** What a mount shows, or what is at a path beneath its root. */
export function mountIdentity(mount: MountEntry, beneath = ""): MountIdentity {
  const { device, source } = mount;
  return { device, root: joinPath(mount.root, beneath), ...(isNumbered(device) && { source }) };
}

/** Whether two mounts show the same. */
export function sameIdentity(a: MountIdentity, b: MountIdentity): boolean {
  return sameFilesystem(a, b) && a.root === b.root;
}

/** Whether two mounts are of one file system. */
export function sameFilesystem(a: Omit<MountIdentity, "root">, b: Omit<MountIdentity, "root">): boolean {
  if (a.device !== b.device) return false;
  return !isNumbered(a.device) || a.source === undefined || b.source === undefined || a.source === b.source;
}

/** Whether a file system has no device, but a number that the kernel made up for it: tmpfs, NFS, overlay. */
function isNumbered(device: string): boolean {
  return device.startsWith("0:");
}
