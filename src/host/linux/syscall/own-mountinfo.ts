import { readFileSync } from "node:fs";
import { type MountEntry, parseMountinfo } from "../../mount-table/mountinfo.ts";

/** The mounts that this process sees, as text: for who looks once. What is kept is asked by MountTableSource. */
export function readOwnMountinfo(): Buffer {
  return readFileSync("/proc/self/mountinfo");
}

/** The same, parsed. */
export function ownMounts(): MountEntry[] {
  return parseMountinfo(readOwnMountinfo().toString("utf8"));
}
