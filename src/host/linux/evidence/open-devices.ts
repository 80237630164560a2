import { constants, existsSync, opendirSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { type Holder, mostHolders } from "../../ports/evidence.ts";
import { kindOf } from "../path/walk.ts";
import { AT_FDCWD, AT_STATX_DONT_SYNC } from "../syscall/constants.ts";
import { errnoOf, ifThere } from "../syscall/errno.ts";
import type { Libc } from "../syscall/libc.ts";
import { containerOf } from "./container-of.ts";
import { commandNodesOf } from "./generic-nodes.ts";
import { commandOf } from "./mount-namespaces.ts";
import type { RemoteMounts } from "./remote-mounts.ts";
import { threadsWithFiles } from "./threads-with-files.ts";

/** Characters of a path that are told: all of it has to go through a pipe. */
const longestPath = 256;
/** O_ACCMODE */
const accessMode = 3;

/** A file that a process has open or mapped, by its link in /proc. */
interface HeldFile {
  readonly link: string;
  /** Where it is, as the kernel tells; undefined if it does not. */
  readonly target: string | undefined;
  readonly writable: boolean;
}

/** They open every disk to look at what is on it or whether it answers, some for as long as they know of it. */
const lookers: readonly string[] = ["multipathd", "systemd-udevd", "(udev-worker)", "blkid"];

/**
 * The first processes that have a device open or mapped, by whatever device node, also for writing by one that only
 * takes commands (commandNodesOf). One process is left out: a child process that it is about to start has copies of its
 * open files until exec, and is left out with it. Every thread with open files of its own is checked. A device node on
 * a file system that may hang is not found, because reading there could block for ever. Files are read one at a time,
 * up to the first match: a process may have a million open. Also left out are servers of nbd devices, and programs that
 * only inspect disks and cannot write: udev, multipathd, blkid, and the agent with its children, which inspect the
 * disks of other volumes.
 * @param agent its pid, if one of its children calls this
 * @param which "writing": only processes that may write to it
 */
export function openersOf(
  libc: Libc,
  deviceNumbers: readonly string[],
  except: number,
  remote: RemoteMounts,
  agent?: number,
  which: "all" | "writing" = "all",
): readonly Holder[] {
  const holders: Holder[] = [];
  const generic = deviceNumbers.flatMap((number) => commandNodesOf("/sys", number));
  const isDevice = ({ link, writable }: HeldFile) => {
    const stat = ifThere(() => libc.statx(AT_FDCWD, link, AT_STATX_DONT_SYNC));
    if (stat === undefined) return false;
    return isOneOf({ kind: kindOf(stat), deviceNumber: stat.deviceNumber, writable }, deviceNumbers, generic);
  };
  const servers = deviceNumbers.map((number) =>
    ifThere(() => readFileSync(`/sys/dev/block/${number}/pid`, "utf8").trim()),
  );
  for (const pid of entries("/proc").filter((name) => /^\d+$/.test(name) && Number(name) !== except)) {
    if (libc.sharesMemory(except, Number(pid))) continue;
    const command = commandOf(Number(pid));
    const reads = () => which === "all" && !lookers.includes(command) && (agent === undefined || !isOf(agent, pid));
    const held = first(heldFiles(libc, pid, remote), (file) => isDevice(file) && (file.writable || reads()));
    if (held === undefined || servers.some((server) => server !== undefined && hasThread(pid, server))) continue;
    holders.push({ pid: Number(pid), command, mountPoint: held.target?.slice(0, longestPath) ?? "?" });
    if (holders.length === mostHolders) break;
  }
  return holders;
}

/**
 * Whether an open file is one of these devices. A node for commands counts only if it is open for writing: monitors
 * hold it for reading for as long as the disk is there. The kernel lets a reader send only commands that read, unless
 * it has CAP_SYS_RAWIO, of NVMe CAP_SYS_ADMIN (scsi_cmd_allowed, nvme_cmd_allowed of Linux): who has may write unseen.
 * @param generic nodes for commands (commandNodesOf)
 */
export function isOneOf(
  file: { readonly kind: string; readonly deviceNumber: string; readonly writable: boolean },
  deviceNumbers: readonly string[],
  generic: readonly string[],
): boolean {
  if (file.kind === "charDevice") return file.writable && generic.includes(file.deviceNumber);
  return file.kind === "blockDevice" && deviceNumbers.includes(file.deviceNumber);
}

/**
 * Whether a process is mdmon of the node, which writes the metadata of RAID arrays that the kernel leaves to a program,
 * to every member (mdmon(8)). In a container, anything may be called so. That has a PID namespace of its own, or, with
 * hostPID, the agent's, which is the node's, and the cgroup of a container. A mount namespace of its own tells nothing:
 * a unit of systemd may have one, too.
 * @param proc /proc, or a made tree
 */
export function isArrayKeeper({ pid, command }: Pick<Holder, "pid" | "command">, proc = "/proc"): boolean {
  if (command !== "mdmon" || pid === undefined) return false;
  const namespaceOf = (process: number | "self") => ifThere(() => readlinkSync(`${proc}/${process}/ns/pid`));
  const namespace = namespaceOf(pid);
  const cgroup = ifThere(() => readFileSync(`${proc}/${pid}/cgroup`, "utf8"));
  if (namespace === undefined || namespace !== namespaceOf("self") || cgroup === undefined) return false;
  const { container, pod } = containerOf(cgroup);
  return container === undefined && pod === undefined;
}

/**
 * Processes of which not even root may see what they have open: a security module keeps it from us. None of them is a
 * kernel thread, nor process 1, which opens no disks and cannot be seen on hardened nodes at all (decision 0091).
 */
export function hiddenProcesses(): readonly { readonly pid: number; readonly command: string }[] {
  return entries("/proc")
    .filter((name) => /^\d+$/.test(name) && name !== "1" && isHidden(name) && !isKernelThread(name))
    .map((pid) => ({ pid: Number(pid), command: commandOf(Number(pid)) }));
}

/** Who may follow this link may follow those of open files: the kernel asks the same (ptrace(2), PTRACE_MODE_READ). */
function isHidden(pid: string): boolean {
  try {
    readlinkSync(`/proc/${pid}/exe`);
    return false;
  } catch (error) {
    return ["EACCES", "EPERM"].includes(errnoOf(error) ?? "");
  }
}

/** PF_KTHREAD, in the flags of a process: proc_pid_stat(5). */
const kernelThread = 0x200000;

function isKernelThread(pid: string): boolean {
  const stat = ifThere(() => readFileSync(`/proc/${pid}/stat`, "utf8")) ?? "";
  const flags = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[6];
  return (Number(flags) & kernelThread) !== 0;
}

/** Whether a process is the agent, or a child of it that has not become another program. */
function isOf(agent: number, pid: string): boolean {
  if (Number(pid) === agent) return true;
  const status = ifThere(() => readFileSync(`/proc/${pid}/status`, "utf8")) ?? "";
  if (/^PPid:\s*(\d+)$/m.exec(status)?.[1] !== `${agent}`) return false;
  return ifThere(() => readlinkSync(`/proc/${pid}/exe`)) === ifThere(() => readlinkSync("/proc/self/exe"));
}

function hasThread(pid: string, thread: string): boolean {
  return existsSync(`/proc/${pid}/task/${thread}`);
}

function* heldFiles(libc: Libc, pid: string, remote: RemoteMounts): Generator<HeldFile> {
  for (const thread of threadsWithFiles(libc, pid)) yield* openFiles(`/proc/${pid}/task/${thread}`, remote);
  yield* mappedFiles(pid, remote);
}

/** What may be a device node: not sockets, pipes and the like, which have no path. */
function* openFiles(thread: string, remote: RemoteMounts): Generator<HeldFile> {
  for (const fd of names(`${thread}/fd`)) {
    const link = `${thread}/fd/${fd}`;
    const target = ifThere(() => readlinkSync(link));
    if (target !== undefined && !target.startsWith("/")) continue;
    const info = ifThere(() => readFileSync(`${thread}/fdinfo/${fd}`, "utf8")) ?? "";
    const mount = /^mnt_id:\s*(\d+)$/m.exec(info)?.[1];
    const flags = /^flags:\s*([0-7]+)$/m.exec(info)?.[1];
    const writable = flags === undefined || (Number.parseInt(flags, 8) & accessMode) !== constants.O_RDONLY;
    if (mount === undefined || !remote.ids.has(Number(mount))) yield { link, target, writable };
  }
}

/** One mapping of each file, and one that writes to it: 7f00-7f01 rw-s 00000000 00:05 123 /dev/sdb */
function* mappedFiles(pid: string, remote: RemoteMounts): Generator<HeldFile> {
  const seen = new Set<string>();
  for (const line of (ifThere(() => readFileSync(`/proc/${pid}/maps`, "utf8")) ?? "").split("\n")) {
    const [range, rights, , device, inode] = line.split(/ +/, 5);
    if (range === undefined || device === undefined || inode === undefined || inode === "0") continue;
    const [major, minor] = device.split(":").map((part) => Number.parseInt(part, 16));
    const writable = rights !== undefined && /^.w.s/.test(rights);
    const file = `${device} ${inode} ${writable}`;
    if (seen.has(file) || remote.devices.has(`${major}:${minor}`)) continue;
    seen.add(file);
    const name = range.split("-").map((address) => address.replace(/^0+(?=.)/, ""));
    const link = `/proc/${pid}/map_files/${name.join("-")}`;
    yield { link, target: ifThere(() => readlinkSync(link)), writable };
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
