import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { MountTable } from "../../mount-table/mount-table.ts";
import type { MountEntry } from "../../mount-table/mountinfo.ts";
import { type Holder, mostHolders, NamespacesUnknown } from "../../ports/evidence.ts";
import { AT_FDCWD, AT_STATX_DONT_SYNC } from "../syscall/constants.ts";
import { ifThere } from "../syscall/errno.ts";
import type { Libc } from "../syscall/libc.ts";
import { loadMountCalls } from "../syscall/mount-calls.ts";
import { ownMounts } from "../syscall/proc.ts";
import { containerOf } from "./container-of.ts";
import { commandOf, eachMountNamespace, type MountNamespace } from "./mount-namespaces.ts";
import { threadsWithFiles } from "./threads-with-files.ts";

/**
 * Characters of a path, and open files of a process, beyond which nobody looks: both are as many as a process likes,
 * and what the child finds has to go through a pipe before its deadline.
 */
const longestPath = 256;
const mostFiles = 10_000;

interface Use {
  readonly use: string;
  readonly path: string;
}

/**
 * Processes that keep a mount busy (umount(2), EBUSY), each with the first thing that it does with it. Told by the
 * mount they are in, not by a path: a container sees the mount elsewhere, or has it under a name of its own. A copy in
 * another mount namespace counts too, as far as the mount propagates there: the kernel asks those as well. Runs in a
 * child: a process that hangs in a page fault may hold its list of mappings up.
 */
export async function usersOf(libc: Libc, mountPoint: string): Promise<readonly Holder[]> {
  const mount = new MountTable(ownMounts()).at(mountPoint);
  if (mount === undefined) return [];
  const ids = await copiesOf(mount);
  const isInIt = (link: string) => {
    const stat = ifThere(() => libc.statx(AT_FDCWD, link, AT_STATX_DONT_SYNC));
    return stat !== undefined && ids.has(stat.mountID);
  };
  const users: Holder[] = [];
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    if (Number(pid) === process.pid || Number(pid) === process.ppid) continue;
    const [first] = usesOf(libc, pid, { ids, device: mount.device, isInIt });
    if (first !== undefined) users.push(holderOf(pid, first));
    if (users.length === mostHolders) break;
  }
  return users;
}

/** Who a process is, for people. */
function holderOf(pid: string, { use, path }: Use): Holder {
  const command = commandOf(Number(pid));
  return { pid: Number(pid), command, mountPoint: path.slice(0, longestPath), use, ...containerOfProcess(Number(pid)) };
}

/** Who is in a mount namespace, for people. */
export function whoIsIn({ name, id, members }: MountNamespace, onNode: boolean): Omit<Holder, "mountPoint"> {
  const { pid, unread, kept } = members();
  const namespaceID = id();
  const named = { namespace: name, ...(namespaceID !== undefined && { namespaceID }) };
  const place = { ...named, ...(onNode && { onNode }), ...(unread && { unread }), ...(kept && { kept }) };
  if (pid === undefined) return { ...place, command: "?" };
  return { ...place, pid, command: commandOf(pid), ...(!onNode && containerOfProcess(pid)) };
}

/** None if it is in none, or has ended. */
function containerOfProcess(pid: number): ReturnType<typeof containerOf> {
  return containerOf(ifThere(() => readFileSync(`/proc/${pid}/cgroup`, "utf8")) ?? "");
}

interface Wanted {
  readonly ids: ReadonlySet<number>;
  readonly device: string;
  isInIt(link: string): boolean;
}

function* usesOf(libc: Libc, pid: string, wanted: Wanted): Generator<Use> {
  const found = (use: string, link: string): Use => ({ use, path: ifThere(() => readlinkSync(link)) ?? "?" });
  for (const [use, name] of [
    ["working directory", "cwd"],
    ["root directory", "root"],
    ["program", "exe"],
  ] as const) {
    const link = `/proc/${pid}/${name}`;
    if (wanted.isInIt(link)) yield found(use, link);
  }
  for (const thread of threadsWithFiles(libc, pid)) {
    const files = `/proc/${pid}/task/${thread}`;
    for (const fd of (ifThere(() => readdirSync(`${files}/fd`)) ?? []).slice(0, mostFiles)) {
      const mount = /^mnt_id:\s*(\d+)$/m.exec(ifThere(() => readFileSync(`${files}/fdinfo/${fd}`, "utf8")) ?? "")?.[1];
      if (mount !== undefined && wanted.ids.has(Number(mount))) yield found("open file", `${files}/fd/${fd}`);
    }
  }
  for (const link of mappings(pid, wanted.device)) if (wanted.isInIt(link)) yield found("mapped file", link);
}

/** Links of mappings of files on a device: 7f00-7f01 rw-s 00000000 00:05 123 /some/file */
function* mappings(pid: string, device: string): Generator<string> {
  for (const line of (ifThere(() => readFileSync(`/proc/${pid}/maps`, "utf8")) ?? "").split("\n")) {
    const [range, , , numbers] = line.split(/ +/, 5);
    const [major, minor] = (numbers ?? "").split(":").map((part) => Number.parseInt(part, 16));
    if (range === undefined || `${major}:${minor}` !== device) continue;
    yield `/proc/${pid}/map_files/${range
      .split("-")
      .map((address) => address.replace(/^0+(?=.)/, ""))
      .join("-")}`;
  }
}

/** Ids of a mount and of the copies of it that other mount namespaces got by propagation. */
async function copiesOf({ id, shared }: MountEntry): Promise<ReadonlySet<number>> {
  const ids = new Set([id]);
  if (shared === undefined) return ids;
  const own = ifThere(() => readlinkSync("/proc/self/ns/mnt"));
  await eachMountNamespace(loadMountCalls(), ({ name, scan }) =>
    scan({
      wanted: () => name !== own,
      found: (mount) => {
        if (mount.shared === shared || mount.master === shared) ids.add(mount.id);
        return false;
      },
    }),
  ).catch((error: unknown) => {
    if (!(error instanceof NamespacesUnknown)) throw error; // those that were read are in it
  });
  return ids;
}
