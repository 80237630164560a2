import type { MountEntry } from "../../mount-table/mountinfo.ts";
import type { OptionLists } from "../../mount-table/option-lists.ts";
import { MOUNT_ATTR, MS, STATMOUNT } from "./constants.ts";
import { statmount as AT } from "./layouts.ts";

/** What is asked of statmount(2): all that a line of mountinfo says. */
export const statmountMask = BigInt(Object.values(STATMOUNT).reduce((all: number, bit) => all | bit, 0));

/** In mountinfo's order (fs/proc_namespace.c); the access time has a field of its own. */
const mountOptions: readonly (readonly [number, string])[] = [
  [MOUNT_ATTR.NOSUID, "nosuid"],
  [MOUNT_ATTR.NODEV, "nodev"],
  [MOUNT_ATTR.NOEXEC, "noexec"],
];
const sbOptions: readonly (readonly [number, string])[] = [
  [MS.SYNCHRONOUS, "sync"],
  [MS.DIRSYNC, "dirsync"],
  [MS.LAZYTIME, "lazytime"],
];

/**
 * File systems of which mountinfo shows the path that their mount's root has, as statmount does. Others have a way of
 * their own to show it (super_operations.show_path): NFS says /, nsfs the name of the namespace, cgroup a path from the
 * reader's own. Only for those that are known the answer is taken.
 */
const rootAsItIs: ReadonlySet<string> = new Set(
  (
    "ext2 ext3 ext4 xfs btrfs f2fs vfat exfat tmpfs ramfs rootfs devtmpfs overlay squashfs erofs iso9660 proc fuse fuseblk " +
    "devpts mqueue hugetlbfs bpf tracefs debugfs securityfs configfs pstore efivarfs binfmt_misc autofs fusectl"
  ).split(" "),
);

/**
 * PURE. One mount as struct statmount tells it; undefined if no path leads there, so that mountinfo does not list it.
 */
export function decodeStatmount(buffer: Buffer, lists: OptionLists): Stated | undefined {
  return (buffer.readUInt32LE(AT.mask) & STATMOUNT.MNT_POINT) === 0 ? undefined : decodeAnywhere(buffer, lists);
}

/** A mount as statmount(2) shows it. */
export interface Stated {
  readonly entry: MountEntry & { readonly uniqueID: number };
  /** Absent: mountinfo shows the same. */
  readonly vague?: Vague;
}

/** What mountinfo may show otherwise. */
export interface Vague {
  /** The file system may have a way of its own to show it. */
  readonly root: boolean;
  /** It is not told: an empty one and none look the same, and before Linux 6.13 none is told. */
  readonly source: boolean;
}

/** PURE. The same, also of a mount to which no path leads: its point is "?" then. */
export function decodeAnywhere(buffer: Buffer, lists: OptionLists): Stated {
  const mask = buffer.readUInt32LE(AT.mask);
  const text = (bit: number, at: number): string | undefined => {
    if ((mask & bit) === 0) return undefined; // also of a string that is empty
    const start = AT.str + buffer.readUInt32LE(at);
    return buffer.toString("utf8", start, buffer.indexOf(0, start));
  };
  const point = text(STATMOUNT.MNT_POINT, AT.mnt_point) ?? "?";
  const subtype = text(STATMOUNT.FS_SUBTYPE, AT.fs_subtype);
  const type = text(STATMOUNT.FS_TYPE, AT.fs_type) ?? "";
  const source = text(STATMOUNT.SB_SOURCE, AT.sb_source);
  const propagation = buffer.readUInt32LE(AT.mnt_propagation);
  const entry = {
    id: buffer.readUInt32LE(AT.mnt_id_old),
    uniqueID: wide(buffer, AT.mnt_id),
    parent: buffer.readUInt32LE(AT.mnt_parent_id_old),
    device: deviceIn(buffer),
    root: text(STATMOUNT.MNT_ROOT, AT.mnt_root) ?? "",
    point,
    options: lists.of(mountOptionsOf(buffer.readUInt32LE(AT.mnt_attr))),
    ...((propagation & MS.SHARED) !== 0 && { shared: wide(buffer, AT.mnt_peer_group) }),
    ...((propagation & MS.SLAVE) !== 0 && { master: wide(buffer, AT.mnt_master) }),
    fsType: subtype === undefined ? type : `${type}.${subtype}`,
    source: source ?? "",
    superOptions: lists.of(superOptionsOf(buffer.readUInt32LE(AT.sb_flags), text(STATMOUNT.MNT_OPTS, AT.mnt_opts))),
  };
  const vague: Vague = { root: !rootAsItIs.has(type), source: source === undefined };
  return { entry, ...((vague.root || vague.source) && { vague }) };
}

/** What is asked of each mount of a namespace before more is asked of a few. */
export const headMask = BigInt(STATMOUNT.SB_BASIC | STATMOUNT.MNT_BASIC);

/** PURE. Of a mount its parent's unique id, at the top its own, and what the beginning of a line of mountinfo says. */
export function headIn(buffer: Buffer): { readonly above: number; readonly parent: number; readonly device: string } {
  const parent = buffer.readUInt32LE(AT.mnt_parent_id_old);
  return { above: wide(buffer, AT.mnt_parent_id), parent, device: deviceIn(buffer) };
}

function deviceIn(buffer: Buffer): string {
  return `${buffer.readUInt32LE(AT.sb_dev_major)}:${buffer.readUInt32LE(AT.sb_dev_minor)}`;
}

/**
 * PURE. The mount id, as mountinfo has it, of the mount that one is mounted in; undefined if there is no such mount.
 */
export function parentIn(told: Buffer | undefined): number | undefined {
  return told?.readUInt32LE(AT.mnt_parent_id_old);
}

function mountOptionsOf(attributes: number): string {
  let text = (attributes & MOUNT_ATTR.RDONLY) === 0 ? "rw" : "ro";
  for (const [bit, name] of mountOptions) if ((attributes & bit) !== 0) text += `,${name}`;
  const atime = attributes & MOUNT_ATTR.ATIME_MASK;
  if (atime === MOUNT_ATTR.NOATIME) text += ",noatime";
  if ((attributes & MOUNT_ATTR.NODIRATIME) !== 0) text += ",nodiratime";
  if (atime === MOUNT_ATTR.RELATIME) text += ",relatime";
  if ((attributes & MOUNT_ATTR.NOSYMFOLLOW) !== 0) text += ",nosymfollow";
  if ((attributes & MOUNT_ATTR.IDMAP) !== 0) text += ",idmapped";
  return text;
}

function superOptionsOf(flags: number, own: string | undefined): string {
  let text = (flags & MS.RDONLY) === 0 ? "rw" : "ro";
  for (const [bit, name] of sbOptions) if ((flags & bit) !== 0) text += `,${name}`;
  return own === undefined ? text : `${text},${own}`;
}

/** A 64-bit number that is below 2^53. */
function wide(buffer: Buffer, at: number): number {
  return buffer.readUInt32LE(at) + buffer.readUInt32LE(at + 4) * 2 ** 32;
}
