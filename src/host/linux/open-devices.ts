import { opendirSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import type { Holder } from "../ports.ts";
import { AT_FDCWD, AT_STATX_DONT_SYNC } from "./constants.ts";
import { ifThere } from "./if-there.ts";
import type { Libc } from "./libc.ts";
import type { RemoteMounts } from "./remote-mounts.ts";
import { kindOf } from "./walk.ts";

/** Processes that are named; one is enough to wait. */
const limit = 16;
/** Characters of a path that are told: all of it has to go through a pipe. */
const longestPath = 256;

/** A file that a process has open or mapped, by its link in /proc. */
interface HeldFile {
  readonly link: string;
  /** Where it is, as the kernel tells; undefined if it does not. */
  readonly target: string | undefined;
}

/**
 * The first processes, but for one, that have a device open or mapped, by whatever node of it. What that one is about to
 * start has copies of its open files until it is another program, and is passed over with it. Every thread that has open
 * files of its own is asked. A device node on a file system that may hang is not seen: to look there could take for ever.
 * One file at a time, up to the first that is the device: a process may have a million open.
 */
export function openersOf(
  libc: Libc,
  deviceNumbers: readonly string[],
  except: number,
  remote: RemoteMounts,
): readonly Holder[] {
  const holders: Holder[] = [];
  const isDevice = ({ link }: HeldFile) => {
    const stat = ifThere(() => libc.statx(AT_FDCWD, link, AT_STATX_DONT_SYNC));
    return stat !== undefined && kindOf(stat) === "blockDevice" && deviceNumbers.includes(stat.deviceNumber);
  };
  for (const pid of entries("/proc").filter((name) => /^\d+$/.test(name) && Number(name) !== except)) {
    if (libc.sharesMemory(except, Number(pid))) continue;
    const held = first(heldFiles(libc, pid, remote), isDevice);
    if (held === undefined) continue;
    const command = ifThere(() => readFileSync(`/proc/${pid}/comm`, "utf8").trim()) ?? "?";
    holders.push({ pid: Number(pid), command, mountPoint: held.target?.slice(0, longestPath) ?? "?" });
    if (holders.length === limit) break;
  }
  return holders;
}

function* heldFiles(libc: Libc, pid: string, remote: RemoteMounts): Generator<HeldFile> {
  for (const thread of threadsWithFiles(libc, pid)) yield* openFiles(`/proc/${pid}/task/${thread}`, remote);
  yield* mappedFiles(pid, remote);
}

/** Of threads that come after each other and share their open files, the first. */
export function* threadsWithFiles(libc: Libc, pid: string): Generator<string> {
  let last = pid;
  yield pid;
  for (const thread of entries(`/proc/${pid}/task`)) {
    if (thread === pid || libc.sharesFiles(Number(pid), Number(thread))) continue;
    if (last !== pid && libc.sharesFiles(Number(last), Number(thread))) continue;
    last = thread;
    yield thread;
  }
}

/** What may be a device node: not sockets, pipes and the like, which have no path. */
function* openFiles(thread: string, remote: RemoteMounts): Generator<HeldFile> {
  for (const fd of names(`${thread}/fd`)) {
    const link = `${thread}/fd/${fd}`;
    const target = ifThere(() => readlinkSync(link));
    if (target !== undefined && !target.startsWith("/")) continue;
    const mount = /^mnt_id:\s*(\d+)$/m.exec(ifThere(() => readFileSync(`${thread}/fdinfo/${fd}`, "utf8")) ?? "")?.[1];
    if (mount === undefined || !remote.ids.has(Number(mount))) yield { link, target };
  }
}

/** One mapping of each file: 7f00-7f01 rw-s 00000000 00:05 123 /dev/sdb */
function* mappedFiles(pid: string, remote: RemoteMounts): Generator<HeldFile> {
  const seen = new Set<string>();
  for (const line of (ifThere(() => readFileSync(`/proc/${pid}/maps`, "utf8")) ?? "").split("\n")) {
    const [range, , , device, inode] = line.split(/ +/, 5);
    if (range === undefined || device === undefined || inode === undefined || inode === "0") continue;
    const [major, minor] = device.split(":").map((part) => Number.parseInt(part, 16));
    if (seen.has(`${device} ${inode}`) || remote.devices.has(`${major}:${minor}`)) continue;
    seen.add(`${device} ${inode}`);
    const name = range.split("-").map((address) => address.replace(/^0+(?=.)/, ""));
    const link = `/proc/${pid}/map_files/${name.join("-")}`;
    yield { link, target: ifThere(() => readlinkSync(link)) };
  }
}

function first<T>(all: Iterable<T>, wanted: (one: T) => boolean): T | undefined {
  for (const one of all) if (wanted(one)) return one;
  return undefined;
}

/** Entries of a directory that may be long, one at a time. */
function* names(directory: string): Generator<string> {
  const open = ifThere(() => opendirSync(directory, { bufferSize: 256 }));
  if (open === undefined) return;
  try {
    for (;;) {
      const entry = ifThere(() => open.readSync());
      if (entry === undefined || entry === null) return;
      yield entry.name;
    }
  } finally {
    open.closeSync();
  }
}

function entries(directory: string): string[] {
  return ifThere(() => readdirSync(directory)) ?? [];
}
