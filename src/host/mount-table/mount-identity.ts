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

/** Whether `path` is `ancestor` or lies beneath it. Both are clean absolute paths. */
export function isBeneath(path: string, ancestor: string): boolean {
  return ancestor === "/" || path === ancestor || path.startsWith(`${ancestor}/`);
}

/** `path` seen from `ancestor`, without a leading slash; "" if they are the same. */
export function relativePath(ancestor: string, path: string): string {
  return ancestor === "/" ? path.slice(1) : path.slice(ancestor.length + 1);
}

/** `relative` beneath `base`. */
export function joinPath(base: string, relative: string): string {
  if (relative === "") return base;
  return base === "/" ? `/${relative}` : `${base}/${relative}`;
}

/** `from` and each path below it towards `path`, which lies beneath it; nothing if it does not. */
export function pathsTowards(from: string, path: string): string[] {
  if (!isBeneath(path, from)) return [];
  if (from === path) return [from];
  const paths = [from];
  const first = from === "/" ? 0 : from.length;
  for (let slash = path.indexOf("/", first + 1); slash !== -1; slash = path.indexOf("/", slash + 1)) {
    paths.push(path.slice(0, slash));
  }
  paths.push(path);
  return paths;
}
