/** Numbers of Linux's interface (include/uapi). The system calls are the same on every architecture since 424. */

export const SYS = {
  open_tree: 428,
  move_mount: 429,
  fsopen: 430,
  fsconfig: 431,
  fsmount: 432,
  fspick: 433,
  openat2: 437,
  mount_setattr: 442,
  quotactl_fd: 443,
  statmount: 457,
  listmount: 458,
} as const;

/** kcmp(2), which is older than that, by process.arch. */
export const kcmpNumbers: ReadonlyMap<string, number> = new Map([
  ["x64", 312],
  ["arm64", 272],
]);
export const KCMP_VM = 1;
export const KCMP_FILES = 2;

export const AT_FDCWD = -100;
export const AT_SYMLINK_NOFOLLOW = 0x100;
export const AT_REMOVEDIR = 0x200;
export const AT_EMPTY_PATH = 0x1000;
export const AT_STATX_DONT_SYNC = 0x4000;
export const AT_RECURSIVE = 0x8000;

export const O = {
  RDONLY: 0,
  WRONLY: 1,
  CREAT: 0o100,
  EXCL: 0o200,
  NONBLOCK: 0o4000,
  DIRECTORY: 0o200000,
  NOFOLLOW: 0o400000,
  CLOEXEC: 0o2000000,
  PATH: 0o10000000,
} as const;

export const RESOLVE = { NO_XDEV: 0x01, NO_MAGICLINKS: 0x02, NO_SYMLINKS: 0x04, BENEATH: 0x08, IN_ROOT: 0x10 } as const;

export const OPEN_TREE_CLONE = 1;
export const OPEN_TREE_CLOEXEC = O.CLOEXEC;

/** statmount(2): what is asked for, and that nothing more is. */
export const STATMOUNT_SB_BASIC = 0x1;
export const STATMOUNT_MNT_BASIC = 0x2;

export const MOVE_MOUNT_F_EMPTY_PATH = 0x04;
export const MOVE_MOUNT_T_EMPTY_PATH = 0x40;

export const FSOPEN_CLOEXEC = 1;
export const FSMOUNT_CLOEXEC = 1;
export const FSPICK = { CLOEXEC: 1, EMPTY_PATH: 8 } as const;
export const FSCONFIG = { SET_FLAG: 0, SET_STRING: 1, CMD_CREATE: 6, CMD_RECONFIGURE: 7 } as const;

export const MOUNT_ATTR = {
  RDONLY: 0x1,
  NOSUID: 0x2,
  NODEV: 0x4,
  NOEXEC: 0x8,
  ATIME_MASK: 0x70,
  NOATIME: 0x10,
  STRICTATIME: 0x20,
  NODIRATIME: 0x80,
  NOSYMFOLLOW: 0x200000,
} as const;

export const MS_PRIVATE = 1 << 18;

/** unshare(2): a mount namespace of its own. */
export const CLONE_NEWNS = 0x20000;
/** setns(2): a namespace of cgroups. */
export const CLONE_NEWCGROUP = 0x2000000;

export const UMOUNT = { FORCE: 1, DETACH: 2, EXPIRE: 4, NOFOLLOW: 8 } as const;

export const RENAME_NOREPLACE = 1;

export const MFD_CLOEXEC = 1;

export const RLIMIT_CORE = 4;

export const STATX = { BASIC: 0x7ff, MNT_ID: 0x1000, MNT_ID_UNIQUE: 0x4000, ATTR_MOUNT_ROOT: 0x2000 } as const;

export const S_IFMT = 0o170000;

export const LOCK = { EX: 2, NB: 4 } as const;

export const EXDEV = 18;
