import { existsSync, readFileSync, realpathSync } from "node:fs";
import { basename, dirname } from "node:path";
import { listed } from "../../../api/values/listed.ts";
import { quoted } from "../../../api/values/printable.ts";
import { VolumeError } from "../../../errors.ts";
import { type MountEntry, parseMountinfo } from "../../mount-table/mountinfo.ts";
import { type Holder, mostHolders } from "../../ports/evidence.ts";
import type { DeviceUsers } from "../child/child-protocol.ts";
import {
  type ExportElsewhere,
  exportElsewhere,
  exportOf,
  exportsNow,
  ofNode,
  unknownExport,
} from "../evidence/kernel-exports.ts";
import { hiddenProcesses, isArrayKeeper, openersOf } from "../evidence/open-devices.ts";
import type { RemoteMounts } from "../evidence/remote-mounts.ts";
import type { Libc } from "../syscall/libc.ts";
import { claimsOf, claimText } from "./block-claims.ts";
import { type DeviceBeneath, devicesBeneath } from "./devices-beneath.ts";
import { aliasedBy, deviceBeneath, loopsOn } from "./loop-backing.ts";
import { type Node as DeviceNode, publishedNode } from "./published-nodes.ts";

/** A block device whose users are looked for. */
export interface DeviceInQuestion {
  /** Its node. */
  readonly path: string;
  /** `major:minor` */
  readonly deviceNumber: string;
  /** Whether an exclusive open of it was refused. */
  readonly claimed: boolean;
}

/**
 * The users of a device, besides this process: devices built on it, its mounts, loop devices on it, what the kernel
 * serves of it to other machines, and every process that has it, or a partition of it, open. An exclusive open only
 * detects users that claim the device themselves: not a virtual machine, a database, or a pod that writes to the raw
 * device.
 * @param remote mounts that may hang, and are not inspected
 */
export function usersOf(
  libc: Libc,
  { path, deviceNumber, claimed }: DeviceInQuestion,
  remote: RemoteMounts,
): DeviceUsers | undefined {
  const aliased = aliasedBy(deviceNumber, path);
  if (aliased !== undefined) return { text: aliasText(path, aliased), heldBy: [] };
  const claims = claimsOf(deviceNumber);
  const mounts = parseMountinfo(readFileSync("/proc/self/mountinfo", "utf8"));
  const made =
    claimText(claims) ??
    (claimed ? mountText(path, deviceNumber, mounts) : publishedText(path, nodeOf(path, deviceNumber), mounts));
  if (made !== undefined) return { text: made, heldBy: [] };
  const numbers = [deviceNumber, ...claims.partitions.map((partition) => partition.deviceNumber)];
  const open = openersOf(libc, numbers, process.pid, remote, process.ppid);
  const writing = open.length === 0 ? [] : openersOf(libc, numbers, process.pid, remote, process.ppid, "writing");
  if (writing.length > 0) return opened(path, writing);
  const inKernel = kernelText([deviceNumber], path, mounts);
  if (inKernel !== undefined) return { text: inKernel, heldBy: [] };
  if (claimed) return { text: claimedText(path), heldBy: [] };
  const beneathLoop = (name: string) => deviceBeneath(`${dirname(path)}/${name}`, `/dev/${name}`);
  const beneath = devicesBeneath(deviceNumber, { sys: "/sys", beneathLoop });
  const ofThose = usersBeneath(libc, { path, deviceNumber, mounts }, beneath, remote);
  if (ofThose !== undefined) return ofThose;
  if (open.length > 0) return { ...opened(path, open), allowsMount: true };
  const all = [deviceNumber, ...beneath.map((device) => device.deviceNumber)];
  const hidden = hiddenProcesses();
  const sources = ofNode(mounts, path);
  const exports = exportsNow(sources);
  const elsewhere = exportElsewhere(all, sources, exports);
  return possibleUsers(path, hidden, { elsewhere, unknown: unknownExport(all, sources, exports) });
}

/**
 * Who has a device, or one of its partitions, without a claim and for no process, for people: the kernel itself.
 * @param path a node of the device, beside which those of loop devices may be
 * @param what the device, if that is not the one at the path
 * @param except loop devices that may be made of it
 */
function kernelText(
  deviceNumbers: readonly string[],
  path: string,
  mounts: readonly MountEntry[],
  { what = path, except = [] }: { readonly what?: string; readonly except?: readonly string[] } = {},
): string | undefined {
  const loops = deviceNumbers.flatMap((number) => loopsOn(number, path));
  const others = loops.filter((name) => !except.includes(name));
  if (others.length > 0) return loopText(what, others);
  const served = exportOf(deviceNumbers, ofNode(mounts, path));
  return served && `the kernel serves ${what} to others: ${quoted(served)}. Remove that export`;
}

/** kernelText, or who may have it so: what is taken off the node is lost to exports that only a container can name. */
export function possibleKernelUsers(
  deviceNumbers: readonly string[],
  path: string,
  mounts: readonly MountEntry[],
): Pick<DeviceUsers, "text" | "heldBy"> | undefined {
  const certain = kernelText(deviceNumbers, path, mounts);
  if (certain !== undefined) return { text: certain, heldBy: [] };
  const elsewhere = exportElsewhere(deviceNumbers, ofNode(mounts, path));
  return elsewhere && usersElsewhere(path, elsewhere);
}

function usersElsewhere(path: string, { place, user }: ExportElsewhere): Pick<DeviceUsers, "text" | "heldBy"> {
  const text = `the kernel may serve ${path} to others: the mount namespace of ${namesOf([user])} has it by the path that ${quoted(place)} names. Remove that export, or end that container or service`;
  return { text, heldBy: [user.pid] };
}

/** What the kernel serves that may be a device: directories of exports. */
interface PossibleExports {
  /** Another mount namespace has the device by its path. */
  readonly elsewhere?: ExportElsewhere | undefined;
  /** Nobody can tell whether it is this device. */
  readonly unknown?: string | undefined;
}

/**
 * Who may have a device that nobody is seen to have: that is proved by what all processes have open, and by all that
 * the kernel serves.
 * @param hidden processes whose open files cannot be seen
 */
export function possibleUsers(
  path: string,
  hidden: readonly Pick<Holder, "pid" | "command">[],
  { elsewhere, unknown }: PossibleExports,
): DeviceUsers | undefined {
  if (hidden.length > 0) {
    const text = `it is unknown whether ${path} is open: the agent may not read the open files of ${namesOf(hidden)}. End these processes, or let the node's security module show them to the agent`;
    return { text, heldBy: hidden.slice(0, mostHolders).flatMap(({ pid }) => pid ?? []), allowsMount: true };
  }
  if (elsewhere !== undefined) return { ...usersElsewhere(path, elsewhere), allowsMount: true };
  if (unknown === undefined) return undefined;
  const text = `it is unknown whether the kernel serves ${path} to others: what ${quoted(unknown)} names is not found on the node. Remove that export, or name its device there by a path in /dev`;
  return { text, heldBy: [], allowsMount: true };
}

/**
 * Who may write to a device that another is a part of, or is made of: a virtual machine, a program that writes an
 * image, a pod that was given it. The kernel's claim on a member keeps none of them off.
 */
function usersBeneath(
  libc: Libc,
  { path, deviceNumber, mounts }: { path: string; deviceNumber: string; mounts: readonly MountEntry[] },
  beneath: readonly DeviceBeneath[],
  remote: RemoteMounts,
): DeviceUsers | undefined {
  const names = beneath.map(({ name }) => name);
  const hasArray = [nodeOf(path, deviceNumber).name, ...names].some((name) => /^md\d/.test(name));
  const writers = (devices: readonly DeviceBeneath[]) => {
    const numbers = devices.map((device) => device.deviceNumber);
    const open = openersOf(libc, numbers, process.pid, remote, process.ppid, "writing");
    return open.filter((opener) => !(hasArray && isArrayKeeper(opener)));
  };
  const open = beneath.length > 0 && writers(beneath).length > 0;
  for (const [at, device] of beneath.entries()) {
    const { name } = device;
    const isDisk = at === 0 && existsSync(`/sys/dev/block/${deviceNumber}/partition`);
    const what = `${name}, of which ${path} is ${isDisk ? "a partition" : "made"},`;
    const openers = open ? writers([device]) : [];
    if (openers.length > 0) return opened(what, openers);
    const text =
      kernelText([device.deviceNumber], path, mounts, { what, except: names }) ??
      publishedText(what, { ...device, path: `${dirname(path)}/${name}` }, mounts);
    if (text !== undefined) return { text, heldBy: [] };
  }
  return undefined;
}

function opened(path: string, openers: readonly Holder[]): DeviceUsers {
  return { text: openText(path, openers), heldBy: openers.flatMap(({ pid }) => pid ?? []) };
}

/**
 * @param keeps whether what is on it stays as it is: then who only reads it may go on
 * @throws VolumeError DeviceBusy, which names who has it
 */
export function refuseUsed(libc: Libc, device: DeviceInQuestion, remote: RemoteMounts, keeps = false): void {
  const users = usersOf(libc, device, remote);
  if (users === undefined || (keeps && users.allowsMount === true)) return;
  const { text, heldBy } = users;
  throw new VolumeError("DeviceBusy", "transient", text, { heldBy, on: { kind: "Device", name: device.path } });
}

/** The message about a device that processes have open. */
export function openText(path: string, openers: readonly Holder[]): string {
  return `${path} is open: ${namesOf(openers, openers.length < mostHolders)}. End these processes`;
}

/** How many processes a message names. */
const named = 16;

function namesOf(processes: readonly Pick<Holder, "pid" | "command">[], isAll = true): string {
  const texts = processes.map(({ pid, command }) => `${quoted(command)} (${pid})`);
  return listed(texts, named, isAll);
}

/** The message about a device that loop devices are built on. */
export function loopText(path: string, loops: readonly string[]): string {
  return `${path} is what ${listed(loops, named)} is made of: end the pod that has it as a raw volume (kubelet makes a loop device on each), or detach what nobody uses: losetup --detach /dev/${loops[0]}`;
}

/** A loop device on another block device: who has that, and what it is, is asked of that alone. */
function aliasText(path: string, beneath: string): string {
  return `${path} is a loop device, a second name of the device ${beneath}: name that device`;
}

/** The message about a device that the kernel has claimed exclusively, with no process to name. */
export function claimedText(path: string): string {
  return `${path} is open elsewhere: mounted, or part of swap, RAID or LVM`;
}

/**
 * A pod, or a driver, has got the device itself: it may be written to at any time, and nobody has it open until then.
 */
function publishedText(what: string, node: DeviceNode, mounts: readonly MountEntry[]): string | undefined {
  const mount = publishedNode(node, mounts);
  return (
    mount &&
    `${what} is given to a pod or a driver: its device node is mounted at ${quoted(mount.point)}. End the pod that has the volume, or unmount its device node`
  );
}

function nodeOf(path: string, deviceNumber: string): DeviceNode {
  return { path, deviceNumber, name: basename(realpathSync(`/sys/dev/block/${deviceNumber}`)) };
}

function mountText(path: string, deviceNumber: string, mounts: readonly MountEntry[]): string | undefined {
  const mount = mounts.find(({ device }) => device === deviceNumber);
  return mount && `${path} is open elsewhere: mounted on ${quoted(mount.point)}`;
}
