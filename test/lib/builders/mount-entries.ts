import type { MountEntry } from "../../../src/host/mount-table/mountinfo.ts";

/** A line of a mount table with the usual values where none are given. */
export function entry(given: Partial<MountEntry> & Pick<MountEntry, "id" | "point">): MountEntry {
  return {
    parent: 1,
    device: "0:50",
    root: "/",
    options: ["rw", "nosuid", "nodev", "relatime"],
    fsType: "tmpfs",
    source: "tmpfs",
    superOptions: ["rw"],
    ...given,
  };
}
