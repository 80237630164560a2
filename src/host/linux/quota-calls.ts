import koffi from "koffi";
import { SYS } from "./constants.ts";
import { Errno } from "./errno.ts";

/** ioctl_fs: FS_IOC_FSGETXATTR and FS_IOC_FSSETXATTR, of struct fsxattr. */
const ioctls = { get: 0x801c581f, set: 0x401c5820 } as const;
const sizeOfAttributes = 28;
const projectAt = 12;

/** Of quotactl(2), for PRJQUOTA. */
const commands = { getQuota: 0x800007, setQuota: 0x800008, state: 0x5808 } as const;
const projectQuota = 2;
const sizeOfQuota = 72;
const spaceAt = 16;
const inodesAt = 40;
const validAt = 64;
/** QIF_BLIMITS: of the fields of the quota, the limits of space are meant. */
const spaceLimits = 1;
/** Limits count in blocks of this size (QIF_DQBLKSIZE). */
const blockSize = 1024n;
const sizeOfState = 256;
const stateVersion = 1;
/** FS_QUOTA_PDQ_ENFD: limits of projects are kept. */
const enforced = 1 << 5;

/** What a directory has, and what is made in it gets. */
export interface ProjectOfDirectory {
  readonly flags: number;
  readonly project: number;
}

/** FS_XFLAG_PROJINHERIT: what is made in a directory is of its project. */
export const inheritProject = 0x200;

/**
 * Project quotas of the file system that a descriptor is on: ioctl(2), quotactl_fd(2) (Linux 5.14). They wait for the disk alone.
 * All throw Errno.
 */
export type QuotaCalls = ReturnType<typeof loadQuotaCalls>;

export function loadQuotaCalls() {
  const lib = koffi.load(null);
  const ioctl = lib.func("ioctl", "int", ["int", "ulong", "void *"]);
  const quotactl = lib.func("syscall", "long", ["long", "uint", "uint", "uint", "void *"]);

  // errno is only good in the statement after the call.
  const checked = (call: string, result: number): void => {
    if (result < 0) throw new Errno(call, koffi.errno());
  };
  const quota = (fd: number, command: number, project: number, of: Buffer) => {
    checked("quotactl_fd", quotactl(SYS.quotactl_fd, fd, ((command << 8) | projectQuota) >>> 0, project, of));
  };
  return {
    projectOf(fd: number): ProjectOfDirectory {
      const attributes = Buffer.alloc(sizeOfAttributes);
      checked("ioctl", ioctl(fd, ioctls.get, attributes));
      return { flags: attributes.readUInt32LE(0), project: attributes.readUInt32LE(projectAt) };
    },
    /** Puts a directory into a project, and with it what is made there from now on. */
    setProject(fd: number, project: number): void {
      const attributes = Buffer.alloc(sizeOfAttributes);
      checked("ioctl", ioctl(fd, ioctls.get, attributes));
      attributes.writeUInt32LE((attributes.readUInt32LE(0) | inheritProject) >>> 0, 0);
      attributes.writeUInt32LE(project, projectAt);
      checked("ioctl", ioctl(fd, ioctls.set, attributes));
    },
    /** Whether limits of projects are kept there; counting alone keeps nobody from anything. */
    areEnforced(fd: number): boolean {
      const state = Buffer.alloc(sizeOfState);
      state.writeInt8(stateVersion, 0);
      quota(fd, commands.state, 0, state);
      return (state.readUInt16LE(2) & enforced) !== 0;
    },
    /** Whether anything is of the project, or it has a limit. */
    isUsed(fd: number, project: number): boolean {
      const found = Buffer.alloc(sizeOfQuota);
      quota(fd, commands.getQuota, project, found);
      return [0, spaceAt, inodesAt].some((at) => found.readBigUInt64LE(at) > 0n);
    },
    /** Bytes that all of a project may take, rounded up to 1 KiB; 0 takes the limit away. */
    setLimit(fd: number, project: number, bytes: bigint): void {
      const limit = Buffer.alloc(sizeOfQuota);
      limit.writeBigUInt64LE((bytes + blockSize - 1n) / blockSize, 0);
      limit.writeUInt32LE(spaceLimits, validAt);
      quota(fd, commands.setQuota, project, limit);
    },
  };
}
