import { constants, readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { quoted } from "../../../api/values/printable.ts";
import { messageOf } from "../../../errors.ts";
import { mayBlock } from "../../mount-table/may-block.ts";
import { MountTable } from "../../mount-table/mount-table.ts";
import { parseMountinfo } from "../../mount-table/mountinfo.ts";
import { NamespacesUnknown } from "../../ports/evidence.ts";
import { deviceNumberOf } from "../syscall/block-device.ts";
import { ifThere, unlessGone } from "../syscall/errno.ts";
import { type Libc, loadLibc } from "../syscall/libc.ts";
import { scanTable } from "./scan-table.ts";
import { threadsWithFiles } from "./threads-with-files.ts";

/** Which mount namespaces have been visited so far. */
export interface VisitedNamespaces {
  /** By the name of each namespace that has been visited, a thread in it. */
  readonly readers: ReadonlyMap<string, string>;
  /** Names of those that have been visited; gets those that are now. */
  readonly seen: Set<string>;
}

/** What keeps a mount namespace, or may. */
export interface NamespaceReference {
  /** A link of /proc that opens it; with `way`, where it is in that root. */
  readonly path: string;
  readonly way?: Way;
  /** For people. */
  readonly what: string;
  /** Of the namespace, as /proc calls it; undefined if not even that it is one is known. */
  readonly name?: string;
  /** Of the process, where that is in it. */
  readonly pid?: number;
  /** Why it is not to be opened. */
  readonly mayHang?: string;
}

/** To a file by its path, as others see it. */
interface Way {
  /** A link of /proc to the root directory of the path. */
  readonly root: string;
  /** Whether a call on the path could wait for a server, as far as the mount table tells. */
  mayHang(): boolean;
}

interface OpenFile {
  /** Where it is, as the kernel tells. */
  readonly link: string;
  readonly path: string;
  readonly what: string;
}

/** An open file by whose link nobody knows what it is. */
interface Doubtful extends OpenFile {
  readonly mount: string;
  /** Undefined before Linux 5.14. */
  readonly inode: number | undefined;
}

/** Open files that are looked at before others get a turn. */
const turn = 256;
/** Links of namespaces, and of pipes, sockets and the like. All other open files have a path. */
const noPath = /^[a-z_]+:/;
/** Whether the target of a link in /proc is a mount namespace. */
export const isNamespace = (name: string) => /^mnt:\[[0-9]+\]$/.test(name);
/** PROC_DYNAMIC_FIRST: namespaces, and files of /proc, get their inodes from here on, of 32 bits. */
const firstInode = 0xf0000000;
const lastInode = 0xffffffff;

/**
 * Open descriptors of mount namespaces, and files of nsfs that are mounted where a thread sees them. Nobody shows a
 * descriptor that is on its way through a socket or was handed to io_uring.
 * @returns undefined if a thread has ended before its table was read: another one may be in its namespace
 * @throws NamespacesUnknown if the open files of a process cannot be read
 */
export async function namespaceReferences({
  readers,
  seen,
}: VisitedNamespaces): Promise<readonly NamespaceReference[] | undefined> {
  const places: NamespaceReference[] = [];
  const doubtful: Doubtful[] = [];
  for await (const { link, path, what } of openFiles()) {
    if (isNamespace(link)) places.push({ path, what, name: link });
    else if (!noPath.test(link)) doubtful.push(...doubtOf({ link, path, what }, seen));
  }
  const devices = new Map<string, string>();
  const ids = new Set(doubtful.map(({ mount }) => mount));
  for (const thread of readers.values()) {
    const files = await filesSeenBy(thread, { ids, devices });
    if (files === undefined) return undefined;
    places.push(...files);
  }
  return [...places, ...doubtful.flatMap((file) => ofDoubtful(file, devices.get(file.mount)))];
}

/**
 * A descriptor that was opened by a file of nsfs has the path of that for a link, or / when that was unmounted. Where
 * it is the kernel tells without a look at the file, which could wait for a server: its mount, and its inode.
 */
function doubtOf({ link, path, what }: OpenFile, seen: ReadonlySet<string>): Doubtful[] {
  const info = ifThere(() => readFileSync(path.replace(/fd\/(\d+)$/, "fdinfo/$1"), "latin1")) ?? "";
  const mount = /^mnt_id:\s*(\d+)$/m.exec(info)?.[1];
  const flags = Number.parseInt(/^flags:\s*([0-7]+)$/m.exec(info)?.[1] ?? "0", 8);
  if (mount === undefined || (flags & constants.O_DIRECTORY) !== 0) return [];
  const told = /^ino:\s*(\d+)$/m.exec(info)?.[1];
  const inode = told === undefined ? undefined : Number(told);
  const isOther = inode !== undefined && (inode < firstInode || inode > lastInode || seen.has(`mnt:[${inode}]`));
  return isOther ? [] : [{ link, path, what, mount, inode }];
}

/**
 * @param device of its mount, if that is in a table that was read. A mount in none was detached, or is the kernel's
 * own, as that of memory that is shared
 */
function ofDoubtful({ link, path, what, inode }: Doubtful, device: string | undefined): NamespaceReference[] {
  if (device !== undefined) return device === nsfsDevice() ? [{ path, what }] : [];
  if (inode !== undefined) return [{ path, what }];
  return link === "/" ? [{ path, what, mayHang: "this kernel does not show what it is" }] : [];
}

/** Of each process and each thread that has open files of its own. */
async function* openFiles(): AsyncGenerator<OpenFile> {
  let looks = 0;
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    for (const thread of threadsWithFiles(loaded(), pid)) {
      const directory = `/proc/${pid}/task/${thread}/fd`;
      for (const fd of readable(pid, () => readdirSync(directory)) ?? []) {
        if (++looks % turn === 0) await new Promise((resolve) => setImmediate(resolve));
        const path = `${directory}/${fd}`;
        const link = readable(pid, () => readlinkSync(path));
        if (link !== undefined) yield { link, path, what: `descriptor ${fd} of process ${pid}` };
      }
    }
  }
}

/** @returns undefined if it is gone */
function readable<T>(pid: string, look: () => T): T | undefined {
  try {
    return unlessGone(look);
  } catch (error) {
    throw new NamespacesUnknown(`process ${pid}: ${messageOf(error)}`, error);
  }
}

let libc: Libc | undefined;
/** The C library, loaded at the first use in this process. */
export const loaded = (): Libc => {
  libc ??= loadLibc();
  return libc;
};

/** Files that keep one namespace, of which one is enough: whoever may mount can make 100,000. */
const mostFiles = 3;

/** Mounts whose devices are asked for by their ids, and what was found. */
interface Asked {
  readonly ids: ReadonlySet<string>;
  readonly devices: Map<string, string>;
}

/**
 * Files of mount namespaces that are mounted where a thread sees them. The whole table is understood only where there
 * are some.
 * @returns undefined if the thread has ended
 */
export async function filesSeenBy(thread: string, asked?: Asked): Promise<readonly NamespaceReference[] | undefined> {
  const names = new Set<string>();
  const nsfs = nsfsDevice();
  const path = `${thread}/mountinfo`;
  const read = await scanTable(path, {
    wanted: (_, device) => device === nsfs || (asked?.ids.size ?? 0) > 0,
    found: ({ id, root, device }) => {
      if (asked?.ids.has(`${id}`)) asked.devices.set(`${id}`, device);
      if (device === nsfs && isNamespace(root)) names.add(root);
      return false;
    },
  });
  if (!read) return undefined;
  if (names.size === 0) return [];
  const text = ifThere(() => readFileSync(path, "utf8"));
  if (text === undefined) return undefined;
  const mounts = parseMountinfo(text);
  let table: MountTable | undefined;
  const counts = new Map<string, number>();
  return mounts.flatMap(({ root, point }): NamespaceReference[] => {
    const count = (counts.get(root) ?? 0) + 1;
    if (!names.has(root) || count > mostFiles) return [];
    counts.set(root, count);
    const hangs = () => {
      table ??= new MountTable(mounts.filter((mount) => !isNamespace(mount.root)));
      return mayBlock(table, point);
    };
    const way = { root: `${thread}/root`, mayHang: hangs };
    return [{ path: point, way, what: `the file ${quoted(point)}`, name: root }];
  });
}

/** As mountinfo has the device of a file system that is on none. */
export function nsfsDevice(): string {
  return deviceNumberOf({ rdev: statSync("/proc/self/ns/mnt").dev });
}
