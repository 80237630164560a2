import type { MountTable } from "./mount-table.ts";
import { type MountEntry, unescapeOctal } from "./mountinfo.ts";

/** File systems whose calls end, as long as the machine's own disks answer. Everything else may wait for somebody. */
const local = new Set([
  "ext2",
  "ext3",
  "ext4",
  "xfs",
  "btrfs",
  "f2fs",
  "zfs",
  "vfat",
  "exfat",
  "tmpfs",
  "ramfs",
  "devtmpfs",
  "hugetlbfs",
  "overlay",
  "squashfs",
  "erofs",
  "iso9660",
  "proc",
  "sysfs",
]);

/** File systems in memory: an unmount of them writes nothing. */
const inMemory = new Set(["tmpfs", "ramfs", "devtmpfs", "hugetlbfs"]);

/** Whether a call on `path` could wait for a server, a FUSE process or the like. */
export function mayBlock(table: MountTable, path: string): boolean {
  return table.crossed(path).length === 0 || remoteMountOn(table, path) !== undefined;
}

/**
 * The mount that a call on `path` could wait for: the first that is met on the way, or beneath an overlay on the way.
 */
export function remoteMountOn(table: MountTable, path: string): MountEntry | undefined {
  return firstRemote(table, table.crossed(path), new Set());
}

/** Whether calls on a mount of the table end without anybody else's help. */
export function isLocalMount(table: MountTable, mount: MountEntry): boolean {
  return firstRemote(table, [mount], new Set()) === undefined;
}

/**
 * An overlay is as local as its layers, which its options name: by the paths that they had where it was mounted, so
 * that what another mount namespace has made may name none of ours; then it counts as local (docs/security.md). That on
 * / is not asked: the agent's own program comes from there.
 * @param seen an overlay may be mounted on one of its own layers
 */
function firstRemote(table: MountTable, mounts: readonly MountEntry[], seen: Set<MountEntry>): MountEntry | undefined {
  for (const mount of mounts) {
    if (seen.has(mount)) continue;
    seen.add(mount);
    if (!local.has(mount.fsType)) return mount;
    if (mount.fsType !== "overlay" || mount.point === "/") continue;
    for (const layer of layersOf(mount)) {
      const remote = firstRemote(table, table.crossed(layer), seen);
      if (remote !== undefined) return remote;
    }
  }
  return undefined;
}

/**
 * The directories that an overlay was made of (Documentation/filesystems/overlayfs.rst), as far as they are whole
 * paths. Only `lowerdir=` has several, between colons; all others have one, and their colons are shown as they are.
 */
function layersOf({ superOptions }: MountEntry): string[] {
  return superOptions
    .flatMap((option) => {
      const [, name, shown = ""] = /^(lowerdir|lowerdir\+|datadir\+|upperdir)=(.*)$/.exec(option) ?? [];
      const paths = unescapeOctal(shown);
      return name === "lowerdir" ? paths.split(/(?<!\\):/).map((path) => path.replaceAll("\\:", ":")) : [paths];
    })
    .filter((path) => path.startsWith("/"));
}

/**
 * The same by the type alone: for whoever has no table of the mounts that an overlay is made of, and looks in a child.
 */
export function isLocal(fsType: string): boolean {
  return local.has(fsType);
}

/**
 * Whether an unmount of this takes the last mount of a file system that has to be written out. In a container the agent
 * sees it a second time beneath /host, as a slave: that one goes with it.
 */
export function isLastOf(table: MountTable, mountID: number): boolean {
  const mount = table.byID(mountID);
  if (mount === undefined || inMemory.has(mount.fsType)) return false;
  const goesAlong = ({ master, root }: MountEntry) =>
    mount.shared !== undefined && master === mount.shared && root === mount.root;
  return table.ofDevice(mount.device).every((other) => other === mount || goesAlong(other));
}
