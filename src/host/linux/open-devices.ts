import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import type { Holder } from "../ports.ts";
import { AT_FDCWD, AT_STATX_DONT_SYNC } from "./constants.ts";
import { errnoOf } from "./errno.ts";
import type { Libc } from "./libc.ts";
import { kindOf } from "./walk.ts";

/**
 * Processes, but for one, that have a device open or mapped, by whatever node of it. Every thread is asked: it may have
 * open files of its own. A file is looked at without asking its server (AT_STATX_DONT_SYNC); in a disposable child all
 * the same.
 */
export function openersOf(libc: Libc, deviceNumbers: readonly string[], except: number): readonly Holder[] {
  const holders: Holder[] = [];
  const isDevice = (path: string) => {
    const stat = ifThere(() => libc.statx(AT_FDCWD, path, AT_STATX_DONT_SYNC));
    return stat !== undefined && kindOf(stat) === "blockDevice" && deviceNumbers.includes(stat.deviceNumber);
  };
  for (const pid of entries("/proc").filter((name) => /^\d+$/.test(name) && Number(name) !== except)) {
    const path = [...openFiles(pid), ...mappedFiles(pid)].find(isDevice);
    if (path === undefined) continue;
    const command = ifThere(() => readFileSync(`/proc/${pid}/comm`, "utf8").trim()) ?? "?";
    holders.push({ pid: Number(pid), command, mountPoint: ifThere(() => readlinkSync(path)) ?? "?" });
  }
  return holders;
}

function openFiles(pid: string): string[] {
  return entries(`/proc/${pid}/task`).flatMap((thread) => {
    const directory = `/proc/${pid}/task/${thread}/fd`;
    return entries(directory).map((fd) => `${directory}/${fd}`);
  });
}

/** One mapping of each file: 7f00-7f01 rw-s 00000000 00:05 123 /dev/sdb */
function mappedFiles(pid: string): string[] {
  const files = new Map<string, string>();
  for (const line of (ifThere(() => readFileSync(`/proc/${pid}/maps`, "utf8")) ?? "").split("\n")) {
    const [range, , , device, inode] = line.split(/ +/, 5);
    if (range === undefined || inode === undefined || inode === "0") continue;
    const name = range.split("-").map((address) => address.replace(/^0+(?=.)/, ""));
    files.set(`${device} ${inode}`, `/proc/${pid}/map_files/${name.join("-")}`);
  }
  return [...files.values()];
}

function entries(directory: string): string[] {
  return ifThere(() => readdirSync(directory)) ?? [];
}

/** A process, thread or file may end while it is looked at; one of a FUSE file system may be for its owner only. */
function ifThere<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}
