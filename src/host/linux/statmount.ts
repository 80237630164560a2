import type { MountEntry } from "../mountinfo.ts";
import type { OptionLists } from "../option-lists.ts";
import { STATMOUNT_MNT_BASIC, STATMOUNT_SB_BASIC } from "./constants.ts";

/** What is asked of statmount(2): all that a line of mountinfo says. */
const MASK = {
  SB_BASIC: STATMOUNT_SB_BASIC,
  MNT_BASIC: STATMOUNT_MNT_BASIC,
  MNT_ROOT: 0x8,
  MNT_POINT: 0x10,
  FS_TYPE: 0x20,
  MNT_OPTS: 0x80,
  FS_SUBTYPE: 0x100,
  SB_SOURCE: 0x200,
} as const;

export const statmountMask = BigInt(Object.values(MASK).reduce((all: number, bit) => all | bit, 0));

/** Where the fields of struct statmount are (include/uapi/linux/mount.h). */
const AT = {
  mntOpts: 4,
  mask: 8,
  deviceMajor: 16,
  deviceMinor: 20,
  sbFlags: 32,
  fsType: 36,
  mntID: 40,
  parentID: 48,
  mntIDOld: 56,
  parentIDOld: 60,
  attributes: 64,
  propagation: 72,
  peerGroup: 80,
  master: 88,
  root: 104,
  point: 108,
  subtype: 120,
  source: 124,
  strings: 512,
} as const;

/** In mountinfo's order (fs/proc_namespace.c); the access time has a field of its own. */
const mountOptions: readonly (readonly [number, string])[] = [
  [0x2, "nosuid"],
  [0x4, "nodev"],
  [0x8, "noexec"],
];
const ATIME = { MASK: 0x70, NOATIME: 0x10, RELATIME: 0 } as const;
const NODIRATIME = 0x80;
const NOSYMFOLLOW = 0x200000;
const IDMAP = 0x100000;
const sbOptions: readonly (readonly [number, string])[] = [
  [0x10, "sync"],
  [0x80, "dirsync"],
  [0x2000000, "lazytime"],
];
const MS = { SHARED: 1 << 20, SLAVE: 1 << 19 } as const;

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
  return (buffer.readUInt32LE(AT.mask) & MASK.MNT_POINT) === 0 ? undefined : decodeAnywhere(buffer, lists);
}

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
    const start = AT.strings + buffer.readUInt32LE(at);
    return buffer.toString("utf8", start, buffer.indexOf(0, start));
  };
  const point = text(MASK.MNT_POINT, AT.point) ?? "?";
  const subtype = text(MASK.FS_SUBTYPE, AT.subtype);
  const type = text(MASK.FS_TYPE, AT.fsType) ?? "";
  const source = text(MASK.SB_SOURCE, AT.source);
  const propagation = buffer.readUInt32LE(AT.propagation);
  const entry = {
    id: buffer.readUInt32LE(AT.mntIDOld),
    uniqueID: wide(buffer, AT.mntID),
    parent: buffer.readUInt32LE(AT.parentIDOld),
    device: deviceIn(buffer),
    root: text(MASK.MNT_ROOT, AT.root) ?? "",
    point,
    options: lists.of(mountOptionsOf(buffer.readUInt32LE(AT.attributes))),
    ...((propagation & MS.SHARED) !== 0 && { shared: wide(buffer, AT.peerGroup) }),
    ...((propagation & MS.SLAVE) !== 0 && { master: wide(buffer, AT.master) }),
    fsType: subtype === undefined ? type : `${type}.${subtype}`,
    source: source ?? "",
    superOptions: lists.of(superOptionsOf(buffer.readUInt32LE(AT.sbFlags), text(MASK.MNT_OPTS, AT.mntOpts))),
  };
  const vague: Vague = { root: !rootAsItIs.has(type), source: source === undefined };
  return { entry, ...((vague.root || vague.source) && { vague }) };
}

/** What is asked of each mount of a namespace before more is asked of a few. */
export const headMask = BigInt(MASK.SB_BASIC | MASK.MNT_BASIC);

/** PURE. Of a mount the unique id of its parent, which is its own at the top, and what of it the beginning of a line of mountinfo says. */
export function headIn(buffer: Buffer): { readonly above: number; readonly parent: number; readonly device: string } {
  const parent = buffer.readUInt32LE(AT.parentIDOld);
  return { above: wide(buffer, AT.parentID), parent, device: deviceIn(buffer) };
}

function deviceIn(buffer: Buffer): string {
  return `${buffer.readUInt32LE(AT.deviceMajor)}:${buffer.readUInt32LE(AT.deviceMinor)}`;
}

/** PURE. The mount id, as mountinfo has it, of the mount that one is mounted in; undefined if there is no such mount. */
export function parentIn(told: Buffer | undefined): number | undefined {
  return told?.readUInt32LE(AT.parentIDOld);
}

function mountOptionsOf(attributes: number): string {
  let text = (attributes & 0x1) === 0 ? "rw" : "ro";
  for (const [bit, name] of mountOptions) if ((attributes & bit) !== 0) text += `,${name}`;
  const atime = attributes & ATIME.MASK;
  if (atime === ATIME.NOATIME) text += ",noatime";
  if ((attributes & NODIRATIME) !== 0) text += ",nodiratime";
  if (atime === ATIME.RELATIME) text += ",relatime";
  if ((attributes & NOSYMFOLLOW) !== 0) text += ",nosymfollow";
  if ((attributes & IDMAP) !== 0) text += ",idmapped";
  return text;
}

function superOptionsOf(flags: number, own: string | undefined): string {
  let text = (flags & 0x1) === 0 ? "rw" : "ro";
  for (const [bit, name] of sbOptions) if ((flags & bit) !== 0) text += `,${name}`;
  return own === undefined ? text : `${text},${own}`;
}

/** A 64-bit number that is below 2^53. */
function wide(buffer: Buffer, at: number): number {
  return buffer.readUInt32LE(at) + buffer.readUInt32LE(at + 4) * 2 ** 32;
}
