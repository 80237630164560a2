import type { MountTable } from "./mount-table.ts";
import type { MountEntry } from "./mountinfo.ts";

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
  "overlay",
  "squashfs",
  "erofs",
  "iso9660",
  "proc",
  "sysfs",
]);

/** File systems in memory: an unmount of them writes nothing. */
const inMemory = new Set(["tmpfs", "ramfs", "devtmpfs"]);

/** Whether a call on `path` could wait for a server, a FUSE process or the like (design.md section 6). */
export function mayHang(table: MountTable, path: string): boolean {
  return table.crossed(path).length === 0 || remoteMountOn(table, path) !== undefined;
}

/** The mount that a call on `path` could wait for: the first that is met on the way. */
export function remoteMountOn(table: MountTable, path: string): MountEntry | undefined {
  return table.crossed(path).find((mount) => !local.has(mount.fsType));
}

/** Whether calls on a file system of this type end without anybody else's help. */
export function isLocal(fsType: string): boolean {
  return local.has(fsType);
}

/** Whether this is the only mount of a file system that an unmount would have to write out. */
export function isLastOf(table: MountTable, mountID: number): boolean {
  const mount = table.byID(mountID);
  if (mount === undefined || inMemory.has(mount.fsType)) return false;
  return table.ofDevice(mount.device).length === 1;
}
