import type { MountEntry } from "../../mount-table/mountinfo.ts";
import { parseLinesOf } from "../../mount-table/mountinfo-text.ts";
import { OptionLists } from "../../mount-table/option-lists.ts";
import type { Descriptor } from "../syscall/descriptor.ts";
import type { Libc } from "../syscall/libc.ts";
import { byIDOrText, type MountQueries } from "../syscall/mount-calls.ts";
import { readOwnMountinfo } from "../syscall/proc.ts";
import { decodeStatmount, statmountMask } from "../syscall/statmount.ts";

/** Finds the mount that a descriptor is in; undefined if it is in none of this namespace that a path leads to. */
export type MountOf = (file: Descriptor) => MountEntry | undefined;

/** By the whole table: for a process that does one thing and ends. */
export function mountOfByText(libc: Libc): MountOf {
  return (file) => {
    const { id } = libc.mounts.keyOf(file);
    return parseLinesOf(readOwnMountinfo(), [id], new OptionLists()).get(id);
  };
}

/** By its unique id, as it is at this moment; by the whole table where the kernel does not tell, or not everything. */
export function mountOfByID(libc: Libc, queries: Pick<MountQueries, "statmount">): MountOf {
  const lists = new OptionLists();
  const byText = mountOfByText(libc);
  return (file) => {
    const unique = libc.mounts.uniqueOf(file);
    if (unique === undefined) return byText(file);
    const told = byIDOrText(
      () => queries.statmount(Number(unique), statmountMask, 0n),
      () => undefined,
    );
    const decoded = told && decodeStatmount(told, lists);
    return decoded === undefined || decoded.vague !== undefined ? byText(file) : decoded.entry;
  };
}
