import { closeSync, openSync } from "node:fs";
import { listed } from "../../../api/values/listed.ts";
import type { Clock } from "../../../ports.ts";
import { comparedTwice, type MountReader } from "../../mount-table/mount-reader.ts";
import type { MountTier } from "../../mount-table/mount-table-source.ts";
import { OptionLists } from "../../mount-table/option-lists.ts";
import type { MountCalls } from "../syscall/mount-calls.ts";
import { announcerOf, MountEvents } from "./mount-events.ts";
import { MountinfoFile } from "./mountinfo-file.ts";
import { MountinfoReader } from "./mountinfo-reader.ts";
import { StatmountReader } from "./statmount-reader.ts";

/** Share of mounts about which statmount may know less than mountinfo; before Linux 6.13 it is all of them. */
const mostIncomplete = 0.9;

/**
 * Opens a mount table in one way, and looks whether it tells what mountinfo tells: that decides, not the kernel's
 * version.
 * @param process a process in the namespace: its number, or self
 * @throws Error, Errno if it does not, or cannot be had here
 */
export function openMountReader(
  calls: MountCalls,
  process: number | "self",
  tier: MountTier,
  clock: Pick<Clock, "monotonic">,
): MountReader {
  const lists = new OptionLists();
  const path = `/proc/${process}/mountinfo`;
  if (tier === "mountinfo") return new MountinfoReader(new MountinfoFile(calls, path), lists);
  using opened = new DisposableStack();
  const mountinfo = opened.use(new MountinfoFile(calls, path));
  const changes = opened.use(new MountinfoFile(calls, path));
  const namespace = process === "self" ? 0n : namespaceOf(calls, process);
  const announcer = announcerOf(opened.use(new MountEvents(calls, `/proc/${process}/ns/mnt`)), changes);
  const all = opened.move();
  const reader = new StatmountReader({
    clock,
    calls,
    announcer,
    mountinfo,
    namespace,
    lists,
    close: () => all.dispose(),
  });
  try {
    reader.compare();
    const { wrong } = comparedTwice(reader);
    if (wrong.length > 0) throw new Error(`it differs from mountinfo: ${listed(wrong, 3, true, "; ")}`);
    if (reader.incomplete > mostIncomplete) throw new Error("statmount does not report sources here");
    return reader;
  } catch (error) {
    reader[Symbol.dispose]();
    throw error;
  }
}

function namespaceOf(calls: MountCalls, process: number): bigint {
  const fd = openSync(`/proc/${process}/ns/mnt`, "r");
  try {
    return calls.namespaceID(fd);
  } finally {
    closeSync(fd);
  }
}
