/**
 * Numbers of Linux's interface (include/uapi), and of the C library's where it has what the kernel's headers have not.
 * What no comment says otherwise of is the same on all of `byArchitecture`; test/real/kernel-headers.test.ts compares
 * all of it with the headers of each.
 */

import { constants as fs } from "node:fs";
import { constants as os } from "node:os";

/** All that differs by architecture (process.arch), beside what Node says (`O`). The agent starts on no other. */
export const byArchitecture = {
  x64: {
    ...{ acct: 163, add_key: 248, adjtimex: 159, bpf: 321, chroot: 161, clock_adjtime: 305 },
    ...{ clock_settime: 227, clone: 56 },
    ...{ delete_module: 176, fanotify_init: 300, finit_module: 313, init_module: 175, ioperm: 173, iopl: 172 },
    ...{ kcmp: 312, kexec_file_load: 320, kexec_load: 246, keyctl: 250, mknod: 133, mknodat: 259, mount: 165 },
    ...{ move_pages: 279, name_to_handle_at: 303, open_by_handle_at: 304, perf_event_open: 298, pivot_root: 155 },
    ...{ process_vm_readv: 310, process_vm_writev: 311, ptrace: 101, quotactl: 179, reboot: 169, request_key: 249 },
    ...{
      seccomp: 317,
      setdomainname: 171,
      sethostname: 170,
      setns: 308,
      settimeofday: 164,
      socket: 41,
      socketpair: 53,
    },
    ...{ swapoff: 168, swapon: 167, syslog: 103, umount2: 166, unshare: 272, userfaultfd: 323, vhangup: 153 },
    ...{ fcntl: 72, fork: 57, ioctl: 16, ioprio_set: 251, kill: 62, migrate_pages: 256, prlimit64: 302 },
    ...{ rt_sigqueueinfo: 129, rt_tgsigqueueinfo: 297, sched_setaffinity: 203, sched_setattr: 314 },
    ...{ sched_setparam: 142, sched_setscheduler: 144, setpgid: 109, setpriority: 141, setsid: 112 },
    ...{ tgkill: 234, tkill: 200, vfork: 58 },
  },
  arm64: {
    ...{ acct: 89, add_key: 217, adjtimex: 171, bpf: 280, chroot: 51, clock_adjtime: 266 },
    ...{ clock_settime: 112, clone: 220 },
    ...{ delete_module: 106, fanotify_init: 262, finit_module: 273, init_module: 105 },
    ...{ kcmp: 272, kexec_file_load: 294, kexec_load: 104, keyctl: 219, mknodat: 33, mount: 40 },
    ...{ move_pages: 239, name_to_handle_at: 264, open_by_handle_at: 265, perf_event_open: 241, pivot_root: 41 },
    ...{ process_vm_readv: 270, process_vm_writev: 271, ptrace: 117, quotactl: 60, reboot: 142, request_key: 218 },
    ...{
      seccomp: 277,
      setdomainname: 162,
      sethostname: 161,
      setns: 268,
      settimeofday: 170,
      socket: 198,
      socketpair: 199,
    },
    ...{ swapoff: 225, swapon: 224, syslog: 116, umount2: 39, unshare: 97, userfaultfd: 282, vhangup: 58 },
    ...{ fcntl: 25, ioctl: 29, ioprio_set: 30, kill: 129, migrate_pages: 238, prlimit64: 261 },
    ...{ rt_sigqueueinfo: 138, rt_tgsigqueueinfo: 240, sched_setaffinity: 122, sched_setattr: 274 },
    ...{ sched_setparam: 118, sched_setscheduler: 119, setpgid: 154, setpriority: 140, setsid: 157 },
    ...{ tgkill: 131, tkill: 130 },
  },
} as const;

/** From 424 on a system call has the same number on each. */
export const SYS = {
  pidfd_send_signal: 424,
  io_uring_setup: 425,
  io_uring_enter: 426,
  io_uring_register: 427,
  open_tree: 428,
  move_mount: 429,
  fsopen: 430,
  fsconfig: 431,
  fsmount: 432,
  fspick: 433,
  pidfd_open: 434,
  clone3: 435,
  openat2: 437,
  pidfd_getfd: 438,
  process_madvise: 440,
  mount_setattr: 442,
  quotactl_fd: 443,
  process_mrelease: 448,
  statmount: 457,
  listmount: 458,
  open_tree_attr: 467,
} as const;

/** On x64, what numbers of the ABI x32 have beside those of the system calls. */
export const X32_SYSCALL_BIT = 0x40000000;

/** What seccomp_data says of the architecture of a call. */
export const AUDIT_ARCH = { X86_64: 0xc000003e, AARCH64: 0xc00000b7 } as const;

/** seccomp(2). */
export const SECCOMP = {
  SET_MODE_FILTER: 1,
  FILTER_FLAG_TSYNC: 1,
  RET_KILL_PROCESS: 0x80000000,
  RET_ERRNO: 0x50000,
  RET_ALLOW: 0x7fff0000,
} as const;

/** Instructions of a filter. */
export const BPF = { LD: 0, W: 0, ABS: 0x20, JMP: 0x05, JEQ: 0x10, JGE: 0x30, JSET: 0x40, RET: 0x06, K: 0 } as const;

/** prctl(2). */
export const PR_SET_NO_NEW_PRIVS = 38;
export const PR_CAPBSET = { READ: 23, DROP: 24 } as const;
export const PR_CAP_AMBIENT = 47;
export const PR_CAP_AMBIENT_CLEAR_ALL = 4;

export const KCMP_VM = 1;
export const KCMP_FILES = 2;

export const AT_FDCWD = -100;
export const AT_SYMLINK_NOFOLLOW = 0x100;
export const AT_REMOVEDIR = 0x200;
export const AT_EMPTY_PATH = 0x1000;
export const AT_STATX_DONT_SYNC = 0x4000;
export const AT_RECURSIVE = 0x8000;

/** DIRECTORY and NOFOLLOW differ on arm64: Node was built with its architecture's headers. It has no CLOEXEC, PATH. */
export const O = {
  RDONLY: fs.O_RDONLY,
  WRONLY: fs.O_WRONLY,
  CREAT: fs.O_CREAT,
  EXCL: fs.O_EXCL,
  NONBLOCK: fs.O_NONBLOCK,
  DIRECTORY: fs.O_DIRECTORY,
  NOFOLLOW: fs.O_NOFOLLOW,
  CLOEXEC: 0o2000000,
  PATH: 0o10000000,
} as const;

export const RESOLVE = {
  ...{ NO_XDEV: 0x01, NO_MAGICLINKS: 0x02, NO_SYMLINKS: 0x04, BENEATH: 0x08, IN_ROOT: 0x10 },
  CACHED: 0x20,
} as const;

export const OPEN_TREE_CLONE = 1;
export const OPEN_TREE_CLOEXEC = O.CLOEXEC;

/** statmount(2): what is asked for. */
export const STATMOUNT = {
  SB_BASIC: 0x1,
  MNT_BASIC: 0x2,
  MNT_ROOT: 0x8,
  MNT_POINT: 0x10,
  FS_TYPE: 0x20,
  MNT_OPTS: 0x80,
  FS_SUBTYPE: 0x100,
  SB_SOURCE: 0x200,
} as const;
/** listmount(2): from the root of the namespace on. */
export const LSMT_ROOT = 0xffffffffffffffffn;
/** Bytes of struct mnt_id_req: with mnt_ns_id (VER1), which Linux 6.8 does not know and 6.11 does, and without. */
export const MNT_ID_REQ_SIZE = { VER0: 24, VER1: 32 } as const;

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
  RELATIME: 0,
  NOATIME: 0x10,
  STRICTATIME: 0x20,
  NODIRATIME: 0x80,
  IDMAP: 0x100000,
  NOSYMFOLLOW: 0x200000,
} as const;

/** Of mounts, and of superblocks. */
export const MS = {
  RDONLY: 1,
  SYNCHRONOUS: 0x10,
  DIRSYNC: 0x80,
  PRIVATE: 1 << 18,
  SLAVE: 1 << 19,
  SHARED: 1 << 20,
  LAZYTIME: 1 << 25,
} as const;

/** unshare(2): a mount namespace of its own. */
export const CLONE_NEWNS = 0x20000;
/** unshare(2): root and working directory of its own. */
export const CLONE_FS = 0x200;
/** setns(2): a namespace of cgroups. */
export const CLONE_NEWCGROUP = 0x2000000;
/**
 * The other namespaces. To clone(2) NEWTIME is a bit of the signal at the end, which no signal has. PARENT makes a
 * sibling, THREAD a thread.
 */
export const CLONE = {
  PARENT: 0x8000,
  THREAD: 0x10000,
  NEWTIME: 0x80,
  NEWUTS: 0x4000000,
  NEWIPC: 0x8000000,
  NEWUSER: 0x10000000,
  NEWPID: 0x20000000,
  NEWNET: 0x40000000,
} as const;

export const UMOUNT = { FORCE: 1, DETACH: 2, EXPIRE: 4, NOFOLLOW: 8 } as const;

/** The number of a capability: its bit in CapEff of proc_pid_status(5). */
export const CAP_SYS_ADMIN = 21;
export const CAP = {
  CHOWN: 0,
  DAC_OVERRIDE: 1,
  FOWNER: 3,
  FSETID: 4,
  KILL: 5,
  SETGID: 6,
  SETUID: 7,
  SETPCAP: 8,
} as const;
/** capset(2): with 64 bits for each set, in two structures. */
export const LINUX_CAPABILITY_VERSION_3 = 0x20080522;
/** The inode of the machine's own user namespace. */
export const USER_NS_INIT_INO = 0xeffffffd;

/** fcntl(2): who gets the signals of a file. */
export const F = { SETOWN: 8, SETOWN_EX: 15 } as const;

export const RENAME_NOREPLACE = 1;

export const MFD_CLOEXEC = 1;

export const RLIMIT_CORE = 4;

export const STATX = { BASIC_STATS: 0x7ff, MNT_ID: 0x1000, MNT_ID_UNIQUE: 0x4000, ATTR_MOUNT_ROOT: 0x2000 } as const;

export const S_IFMT = fs.S_IFMT;

export const LOCK = { EX: 2, NB: 4 } as const;

/** Errnos that are told apart by number. */
export const E = {
  PERM: os.errno.EPERM,
  NOENT: os.errno.ENOENT,
  INTR: os.errno.EINTR,
  AGAIN: os.errno.EAGAIN,
  XDEV: os.errno.EXDEV,
  NOSYS: os.errno.ENOSYS,
  OVERFLOW: os.errno.EOVERFLOW,
  AFNOSUPPORT: os.errno.EAFNOSUPPORT,
} as const;

/** fanotify(7). */
export const FAN = {
  CLOEXEC: 1,
  NONBLOCK: 2,
  REPORT_MNT: 0x4000,
  MARK_ADD: 1,
  MARK_MNTNS: 0x110,
  MNT_ATTACH: 0x1000000,
  MNT_DETACH: 0x2000000,
  Q_OVERFLOW: 0x4000,
  EVENT_INFO_TYPE_MNT: 7,
} as const;

export const IN = {
  CLOSE_WRITE: 0x8,
  MOVED_FROM: 0x40,
  MOVED_TO: 0x80,
  CREATE: 0x100,
  DELETE: 0x200,
  DELETE_SELF: 0x400,
  MOVE_SELF: 0x800,
  UNMOUNT: 0x2000,
  Q_OVERFLOW: 0x4000,
  IGNORED: 0x8000,
  ONLYDIR: 0x01000000,
} as const;

export const POLLPRI = 2;
/** EPOLLET tells of what is there to be read once, not for as long as nobody reads it. */
export const EPOLL = { CLOEXEC: O.CLOEXEC, CTL_ADD: 1, IN: 0x001, PRI: 0x002, ET: 2 ** 31 } as const;

export const AF = { UNIX: 1, INET: 2, INET6: 10, NETLINK: 16 } as const;
export const SOCK = { STREAM: 1, RAW: 3, CLOEXEC: O.CLOEXEC, NONBLOCK: O.NONBLOCK } as const;
export const MSG_DONTWAIT = 0x40;
export const NETLINK_ROUTE = 0;
export const NETLINK_KOBJECT_UEVENT = 15;

export const WNOHANG = 1;
/** posix_spawn(3); musl has the same. */
export const POSIX_SPAWN = { SETPGROUP: 0x02, SETSIGDEF: 0x04, SETSIGMASK: 0x08 } as const;
/** Bytes of the longest handle of any file system, behind the two fields of struct file_handle. */
export const MAX_HANDLE_SZ = 128;

/**
 * ioctl(2): of mount namespaces, of directories with a project, of loop devices, of who gets signals. Other
 * architectures put these numbers together otherwise.
 */
export const IOCTL = {
  NS_GET_NSTYPE: 0xb703,
  NS_GET_MNTNS_ID: 0x8008b705,
  NS_MNT_GET_INFO: 0x8010b70a,
  NS_MNT_GET_NEXT: 0x8010b70b,
  NS_MNT_GET_PREV: 0x8010b70c,
  FS_IOC_FSGETXATTR: 0x801c581f,
  FS_IOC_FSSETXATTR: 0x401c5820,
  LOOP_GET_STATUS64: 0x4c05,
  FIOSETOWN: 0x8901,
  SIOCSPGRP: 0x8902,
} as const;
export const FS_XFLAG_PROJINHERIT = 0x200;

/** quotactl(2). */
export const Q = { GETQUOTA: 0x800007, SETQUOTA: 0x800008, XGETQSTATV: 0x5808 } as const;
export const PRJQUOTA = 2;
/** Of the fields of a quota, the limits of space are meant. */
export const QIF_BLIMITS = 1;
/** Limits count in blocks of this size. */
export const QIF_DQBLKSIZE = 1024;
export const FS_QSTATV_VERSION1 = 1;
/** Limits of projects are kept. */
export const FS_QUOTA_PDQ_ENFD = 1 << 5;
