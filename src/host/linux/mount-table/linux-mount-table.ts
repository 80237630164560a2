import type { System } from "../../../ports.ts";
import type { MountTier } from "../../mount-table/mount-table-source.ts";
import { WatchedMountTable } from "../../mount-table/watched-mount-table.ts";
import { loadMountCalls } from "../syscall/mount-calls.ts";
import { watchMountTable } from "./mount-watch.ts";
import { openMountReader } from "./open-mount-reader.ts";

/** Ways to keep a mount table, best first. */
export const allTiers: readonly MountTier[] = ["fanotify", "mountinfo"];

/** The mount table of one mount namespace. Reading it takes no lock that a dead server can hold. */
export class LinuxMountTable extends WatchedMountTable {
  /** @param process a process in that namespace: its number, or self */
  constructor(process: number | "self", system: System, tiers = allTiers, onOptions = () => {}) {
    const calls = loadMountCalls();
    super({
      system,
      name: `${process}`,
      tiers,
      onOptions,
      open: (tier) => openMountReader(calls, process, tier, system.clock),
      wake: ({ events }, onChange) => watchMountTable(`/proc/${process}/mountinfo`, events, onChange),
    });
  }
}
