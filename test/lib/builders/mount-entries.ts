import type { MountEntry } from "../../../src/host/mount-table/mountinfo.ts";
import type { MountAttributes } from "../../../src/host/ports/types.ts";

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

/** Flags as mountinfo has them, in the kernel's order (fs/proc_namespace.c). */
export function optionsOf(attributes: MountAttributes): string[] {
  const { readOnly, nosuid, nodev, noexec, nodiratime, nosymfollow, atime } = attributes;
  return [
    readOnly ? "ro" : "rw",
    ...(nosuid ? ["nosuid"] : []),
    ...(nodev ? ["nodev"] : []),
    ...(noexec ? ["noexec"] : []),
    ...(atime === "noatime" ? ["noatime"] : []),
    ...(nodiratime ? ["nodiratime"] : []),
    ...(atime === "relatime" ? ["relatime"] : []),
    ...(nosymfollow ? ["nosymfollow"] : []),
  ];
}
