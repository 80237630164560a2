/**
 * Bytes of the kernel's structures, and where their fields are, with the names of its headers: the same on all
 * architectures of constants.ts, which test/real/kernel-headers.test.ts compares with the headers of each.
 */

export const statx = {
  bytes: 256,
  stx_mask: 0,
  stx_attributes: 8,
  stx_gid: 24,
  stx_mode: 28,
  stx_ino: 32,
  stx_size: 40,
  stx_rdev_major: 128,
  stx_rdev_minor: 132,
  stx_dev_major: 136,
  stx_dev_minor: 140,
  stx_mnt_id: 144,
} as const;

export const open_how = { bytes: 24, flags: 0, mode: 8, resolve: 16 } as const;

export const mount_attr = { bytes: 32, attr_set: 0, attr_clr: 8, propagation: 16 } as const;

/** `bytes` without the strings. */
export const statmount = {
  bytes: 512,
  mnt_opts: 4,
  mask: 8,
  sb_dev_major: 16,
  sb_dev_minor: 20,
  sb_flags: 32,
  fs_type: 36,
  mnt_id: 40,
  mnt_parent_id: 48,
  mnt_id_old: 56,
  mnt_parent_id_old: 60,
  mnt_attr: 64,
  mnt_propagation: 72,
  mnt_peer_group: 80,
  mnt_master: 88,
  mnt_root: 104,
  mnt_point: 108,
  fs_subtype: 120,
  sb_source: 124,
  str: 512,
} as const;

/** How many bytes of it are handed over MNT_ID_REQ_SIZE says. */
export const mnt_id_req = { size: 0, mnt_id: 8, param: 16, mnt_ns_id: 24 } as const;

export const mnt_ns_info = { bytes: 16, size: 0, nr_mounts: 4 } as const;

export const fanotify_event_metadata = { event_len: 0, metadata_len: 6, mask: 8 } as const;

/** Behind it; `hdr` is a struct fanotify_event_info_header. */
export const fanotify_event_info_mnt = { "hdr.info_type": 0, "hdr.len": 2, mnt_id: 8 } as const;

/** `bytes` without the name. */
export const inotify_event = { bytes: 16, wd: 0, mask: 4, len: 12 } as const;

export const pollfd = { bytes: 8, fd: 0, events: 4, revents: 6 } as const;

/** Only its beginning is used: it has 12 bytes on x64, and 16 on arm64. */
export const epoll_event = { events: 0 } as const;

export const sockaddr_nl = { bytes: 12, nl_family: 0, nl_groups: 8 } as const;

export const fsxattr = { bytes: 28, fsx_xflags: 0, fsx_projid: 12 } as const;

export const if_dqblk = { bytes: 72, dqb_bhardlimit: 0, dqb_curspace: 16, dqb_curinodes: 40, dqb_valid: 64 } as const;

export const fs_quota_statv = { bytes: 160, qs_version: 0, qs_flags: 2 } as const;

export const loop_info64 = { bytes: 232, lo_rdevice: 16 } as const;

export const rlimit = { bytes: 16, rlim_cur: 0, rlim_max: 8 } as const;

export const timespec = { bytes: 16, tv_sec: 0, tv_nsec: 8 } as const;

/** `bytes` without the handle. */
export const file_handle = { bytes: 8, handle_bytes: 0 } as const;

/** What a filter of seccomp(2) is told of a call: `args` are of 64 bits each. */
export const seccomp_data = { bytes: 64, nr: 0, arch: 4, args: 16 } as const;

export const __user_cap_header_struct = { bytes: 8, version: 0, pid: 4 } as const;

export const __user_cap_data_struct = { bytes: 12, effective: 0, permitted: 4, inheritable: 8 } as const;

export const sock_filter = { bytes: 8, code: 0, jt: 2, jf: 3, k: 4 } as const;
