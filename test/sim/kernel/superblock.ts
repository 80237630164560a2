import { Dentry } from "./dentry.ts";
import type { Disk } from "./disk.ts";
import { LowestFree } from "./lowest-free.ts";

export interface SuperblockInput {
  /** `major:minor`. */
  readonly device: string;
  readonly fsType: string;
  readonly source: string;
  readonly options: readonly string[];
  readonly disk?: Disk;
}

/** One file system, mounted any number of times. */
export class Superblock {
  device: string;
  readonly fsType: string;
  readonly source: string;
  /** As the last field of mountinfo has them, without rw or ro. */
  options: readonly string[];
  readOnly = false;
  readonly disk: Disk | undefined;
  readonly root: Dentry;
  /** Mounts of it, attached or still used by a process. At 0 the file system is gone. */
  references = 0;
  readonly #lowest = new LowestFree(2);
  #next = 1;

  constructor(input: SuperblockInput) {
    this.device = input.device;
    this.fsType = input.fsType;
    this.source = input.source;
    this.options = input.options;
    this.disk = input.disk;
    this.root = new Dentry(this, "directory", "system", rootMode(input));
  }

  /** A disk's file system gives a freed inode number to the next file, tmpfs counts on. */
  takeInode(): number {
    return this.fsType === "tmpfs" ? this.#next++ : this.#lowest.take();
  }

  freeInode(inode: number): void {
    this.#lowest.free(inode);
  }
}

/** Everybody may write to a new tmpfs, unless it is told otherwise (tmpfs(5)). */
function rootMode({ fsType, options }: SuperblockInput): number {
  if (fsType !== "tmpfs") return 0o755;
  const mode = options.find((option) => option.startsWith("mode="));
  return mode === undefined ? 0o1777 : Number.parseInt(mode.slice("mode=".length), 8);
}
