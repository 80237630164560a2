import koffi from "koffi";
import {
  FS_QSTATV_VERSION1,
  FS_QUOTA_PDQ_ENFD,
  FS_XFLAG_PROJINHERIT,
  IOCTL,
  PRJQUOTA,
  Q,
  QIF_BLIMITS,
  QIF_DQBLKSIZE,
  SYS,
} from "./constants.ts";
import { fs_quota_statv, fsxattr, if_dqblk } from "./layouts.ts";
import { checked } from "./libc.ts";

const blockSize = BigInt(QIF_DQBLKSIZE);

/** What a directory has, and what is made in it gets. */
export interface ProjectOfDirectory {
  readonly flags: number;
  readonly project: number;
}

/** What is made in a directory is of its project. */
export const inheritProject = FS_XFLAG_PROJINHERIT;

/**
 * Project quotas of the file system that a descriptor is on: ioctl(2), quotactl_fd(2) (Linux 5.14). They wait for the
 * disk alone. All throw Errno.
 */
export type QuotaCalls = ReturnType<typeof loadQuotaCalls>;

/** Binds quotactl(2) and the ioctls of project quotas. */
export function loadQuotaCalls() {
  const lib = koffi.load(null);
  const ioctl = lib.func("ioctl", "int", ["int", "ulong", "void *"]);
  const quotactl = lib.func("syscall", "long", ["long", "uint", "uint", "uint", "void *"]);

  const quota = (fd: number, command: number, project: number, of: Buffer) => {
    checked("quotactl_fd", quotactl(SYS.quotactl_fd, fd, ((command << 8) | PRJQUOTA) >>> 0, project, of));
  };
  return {
    projectOf(fd: number): ProjectOfDirectory {
      const attributes = Buffer.alloc(fsxattr.bytes);
      checked("ioctl", ioctl(fd, IOCTL.FS_IOC_FSGETXATTR, attributes));
      return {
        flags: attributes.readUInt32LE(fsxattr.fsx_xflags),
        project: attributes.readUInt32LE(fsxattr.fsx_projid),
      };
    },
    /** Puts a directory into a project, and with it what is made there from now on. */
    setProject(fd: number, project: number): void {
      const attributes = Buffer.alloc(fsxattr.bytes);
      checked("ioctl", ioctl(fd, IOCTL.FS_IOC_FSGETXATTR, attributes));
      const flags = attributes.readUInt32LE(fsxattr.fsx_xflags) | inheritProject;
      attributes.writeUInt32LE(flags >>> 0, fsxattr.fsx_xflags);
      attributes.writeUInt32LE(project, fsxattr.fsx_projid);
      checked("ioctl", ioctl(fd, IOCTL.FS_IOC_FSSETXATTR, attributes));
    },
    /** Whether limits of projects are kept there; counting alone keeps nobody from anything. */
    areEnforced(fd: number): boolean {
      const state = Buffer.alloc(fs_quota_statv.bytes);
      state.writeInt8(FS_QSTATV_VERSION1, fs_quota_statv.qs_version);
      quota(fd, Q.XGETQSTATV, 0, state);
      return (state.readUInt16LE(fs_quota_statv.qs_flags) & FS_QUOTA_PDQ_ENFD) !== 0;
    },
    /** Whether anything is of the project, or it has a limit. */
    isUsed(fd: number, project: number): boolean {
      const found = Buffer.alloc(if_dqblk.bytes);
      quota(fd, Q.GETQUOTA, project, found);
      const { dqb_bhardlimit, dqb_curspace, dqb_curinodes } = if_dqblk;
      return [dqb_bhardlimit, dqb_curspace, dqb_curinodes].some((at) => found.readBigUInt64LE(at) > 0n);
    },
    /** Bytes that all of a project may take, rounded up to 1 KiB; 0 takes the limit away. */
    setLimit(fd: number, project: number, bytes: bigint): void {
      const limit = Buffer.alloc(if_dqblk.bytes);
      limit.writeBigUInt64LE((bytes + blockSize - 1n) / blockSize, if_dqblk.dqb_bhardlimit);
      limit.writeUInt32LE(QIF_BLIMITS, if_dqblk.dqb_valid);
      quota(fd, Q.SETQUOTA, project, limit);
    },
  };
}
