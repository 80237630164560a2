import { VolumeError } from "../../../errors.ts";
import { errnoOf, unlessErrno } from "../syscall/errno.ts";
import { inheritProject, loadQuotaCalls, type QuotaCalls } from "../syscall/quota-calls.ts";

/** What a file system answers that has no project quotas, or has them switched off. */
const unsupported = ["ENOSYS", "ESRCH", "ENOTTY", "EOPNOTSUPP", "EINVAL"];

/** Projects of ours begin here: those of people and of kubelet (1048577 and up) are far below. */
const firstProject = 0x4000_0000;
const projects = 0x3fff_0000;
const tries = 64;

/**
 * Limits of data directories by project quotas (kubelet: pkg/volume/util/fsquota), each directory a project of its own.
 */
export class ProjectQuota {
  #calls: QuotaCalls | undefined;

  get #quota(): QuotaCalls {
    this.#calls ??= loadQuotaCalls();
    return this.#calls;
  }

  /**
   * Keeps all that is in a directory below a limit. Idempotent. Of a directory with something in it already, that is
   * not counted.
   * @param seed a number that the project is looked for from, so that a directory mostly gets the same
   * @throws VolumeError QuotaUnsupported
   */
  limit(fd: number, path: string, { bytes, seed }: { readonly bytes: bigint; readonly seed: number }): void {
    try {
      if (!this.#quota.areEnforced(fd)) throw refusal(path, "limits of projects are not kept there");
      const project = this.#ownProject(fd) ?? this.#freeProject(fd, path, seed);
      this.#quota.setLimit(fd, project, bytes); // before anything can be made in it
      this.#quota.setProject(fd, project);
    } catch (error) {
      if (!unsupported.includes(errnoOf(error) ?? "")) throw error;
      throw refusal(path, `the kernel returns ${errnoOf(error)}`, error);
    }
  }

  /** Takes the limit of a directory away that goes, if it has one of ours. */
  forget(fd: number): void {
    unlessErrno(unsupported, () => {
      const project = this.#ownProject(fd);
      if (project !== undefined) this.#quota.setLimit(fd, project, 0n);
    });
  }

  #ownProject(fd: number): number | undefined {
    const { flags, project } = this.#quota.projectOf(fd);
    return (flags & inheritProject) !== 0 && project >= firstProject ? project : undefined;
  }

  #freeProject(fd: number, path: string, seed: number): number {
    for (let i = 0; i < tries; i++) {
      const project = firstProject + ((seed + i) % projects);
      // ENOENT: XFS, of one that was never used
      if (unlessErrno(["ENOENT"], () => this.#quota.isUsed(fd, project)) !== true) return project;
    }
    throw new VolumeError("SetUpFailed", "transient", `none of ${tries} project ids on ${path} is free`);
  }
}

function refusal(path: string, why: string, cause?: unknown): VolumeError {
  const message =
    `the file system of ${path} keeps no project quota (${why}), so sizeLimit cannot be kept: mount the state directory's with` +
    " prjquota (xfs, or ext4 with the features quota and project), or use medium: Memory, or source.local with a disk of that size";
  return new VolumeError("QuotaUnsupported", "final", message, { cause });
}
