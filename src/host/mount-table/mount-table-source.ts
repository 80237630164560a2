import type { Cancel } from "../../ports.ts";
import type { MountTable } from "./mount-table.ts";

/**
 * How a mount table is kept current, best first:
 * - fanotify: the kernel names each mount that was attached, moved or detached, and statmount(2) describes it
 * - mountinfo: the kernel reports that something changed, and the text is read and compared with the last one
 */
export type MountTier = "fanotify" | "mountinfo";

/** How the keeping of a table goes. Numbers count from the start. */
export interface MountTableStatus {
  /** Undefined until the table was read. */
  readonly tier: MountTier | undefined;
  /** Times that everything was read and compared without the kernel asking for it. */
  readonly resyncs: number;
  /** Times that the kernel had to drop events because nobody read them. */
  readonly overflows: number;
  /** Differences that a resync found and no event had told of. */
  readonly unannounced: number;
  /** Times that a way of keeping it which had worked was left for a worse one. */
  readonly demotions: number;
}

/** A mount table that is kept current: the agent's own, or that of another mount namespace. */
export interface MountTableSource {
  /**
   * The table with every mount, move and unmount that was complete when this was called, and every change of options
   * that the caller made: a caller sees its own changes. The same object as the last time if nothing changed. Changes
   * without an event are seen within a minute: propagation, a renamed directory, a file system that went read-only by
   * itself. Rejects if the table cannot be read completely.
   */
  read(): Promise<MountTable>;
  /**
   * Calls `onChange` soon after each change of the table, at least once after the last of several.
   * @throws Errno EMFILE and the like, VolumeError MountTableUnreadable: it is not called then
   */
  watch(onChange: () => void): Cancel;
  /** For people and metrics. */
  status?(): MountTableStatus;
}
