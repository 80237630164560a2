import type { MountTable } from "./mount-table.ts";
import type { MountTier } from "./mount-table-source.ts";

/** Times of what comparing everything took for which it rests where it can wait: half a percent of the time at most. */
export const restFactor = 200;

/** One way to keep the mount table of one namespace. All of them give the same tables. */
export interface MountReader extends Disposable {
  readonly tier: MountTier;
  /** A descriptor that becomes readable after a change, beside POLLPRI of mountinfo. */
  readonly events: number | undefined;
  /** Times that the kernel dropped events, and everything was read anew. */
  readonly overflows: number;
  /** Times that the kernel told of a change which is no mount's coming, moving or going: of options. */
  readonly optionChanges: number;
  /**
   * Whether options may have changed of which it was not seen to be told apart from what else happened: compare soon.
   */
  readonly suspect: boolean;
  /** The table with all that the kernel has told of. */
  read(): MountTable;
  /** Reads everything and mends the table. */
  compare(): Compared;
  /** The caller has changed options of this mount, or of its file system: the next table shows them. */
  recheck(id: number, of: "mount" | "filesystem"): void;
}

/** The result of comparing a mount table that is kept current with one that was read anew. */
export interface Compared {
  /** Mounts that were not as the table had them, though nothing had told of them. */
  readonly found: readonly string[];
  /** Mounts that the reader does not tell as mountinfo does: each a mount point and what of it differs, how. */
  readonly wrong: readonly string[];
}

/**
 * Compares, and once more if something is wrong: only what is wrong twice in the same way is. A directory that was
 * renamed between the reading of mountinfo and the asking for its mount looks wrong once.
 */
export function comparedTwice(reader: MountReader): Compared {
  const { found, wrong } = reader.compare();
  if (wrong.length === 0) return { found, wrong };
  const again = new Set(reader.compare().wrong);
  return { found, wrong: wrong.filter((one) => again.has(one)) };
}
