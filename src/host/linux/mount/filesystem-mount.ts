import { readdirSync, readSync, realpathSync } from "node:fs";
import { basename } from "node:path";
import { listed } from "../../../api/values/listed.ts";
import { optionName } from "../../../api/values/mount-options.ts";
import { VolumeError } from "../../../errors.ts";
import type { FilesystemMount } from "../../ports/host-ports.ts";
import type { MountAttributes } from "../../ports/types.ts";
import { attachedBy } from "../device/attached-by.ts";
import { damageOf } from "../device/file-system-check.ts";
import { attribute } from "../syscall/block-device.ts";
import { FSCONFIG, FSMOUNT_CLOEXEC, FSOPEN_CLOEXEC, FSPICK, MOUNT_ATTR } from "../syscall/constants.ts";
import { Descriptor } from "../syscall/descriptor.ts";
import { errnoOf, ifThere, unlessErrno } from "../syscall/errno.ts";
import type { Libc } from "../syscall/libc.ts";
import { readAt, refusedDevice } from "./refused-device.ts";
import { servedFailure, servedFileSystems } from "./served-file-systems.ts";

/** A new mount of a file system, not attached anywhere yet (fsopen, fsconfig, fsmount). */
export function createFilesystemMount(libc: Libc, request: FilesystemMount): Descriptor {
  const { fsType, device, options } = request;
  if (fsType !== "btrfs" || device === undefined) return create(libc, request);
  // What the device of a stranger says is not written by.
  if (!options.includes("ro")) createBtrfs(libc, { ...request, options: withoutWrites }, device)[Symbol.dispose]();
  return createBtrfs(libc, request, device);
}

const withoutWrites = ["ro", "rescue=nologreplay"];

function createBtrfs(libc: Libc, request: FilesystemMount, { deviceNumber }: { deviceNumber: string }): Descriptor {
  const mount = create(libc, request);
  try {
    refuseForeignMembers("/sys", request.source, deviceNumber);
    return mount;
  } catch (error) {
    mount[Symbol.dispose]();
    throw error;
  }
}

function create(libc: Libc, request: FilesystemMount): Descriptor {
  using context = openContext(libc, request.fsType);
  const began = performance.now();
  const known = (error: unknown, log: string) =>
    servedFailure(request, error, log, performance.now() - began) ??
    damageOf(request.source, request.fsType, errnoOf(error), log);
  const set = () => {
    libc.fsconfig(context.fd, FSCONFIG.SET_STRING, "source", request.source);
    setOptions(libc, context, [...request.options, ...errorsOption(request), ...credentialOptions(request)]);
  };
  explained(context, set, known);
  const make = () => libc.fsconfig(context.fd, FSCONFIG.CMD_CREATE, null, null);
  explained(context, make, (error, log) => refusedDevice(request, errnoOf(error), log) ?? known(error, log));
  const { set: attributes } = attributeBits(request.attributes);
  return new Descriptor(explained(context, () => libc.fsmount(context.fd, FSMOUNT_CLOEXEC, attributes)));
}

/** Changes options of the file system that `mount` is in (fspick, fsconfig). */
export function reconfigureFilesystem(libc: Libc, mount: Descriptor, options: readonly string[]): void {
  using context = new Descriptor(libc.fspick(mount.fd, FSPICK.CLOEXEC | FSPICK.EMPTY_PATH));
  explained(context, () => {
    setOptions(libc, context, options);
    libc.fsconfig(context.fd, FSCONFIG.CMD_RECONFIGURE, null, null);
  });
}

function credentialOptions({ fsType, credentials }: FilesystemMount): readonly string[] {
  if (credentials === undefined) return [];
  const served = servedFileSystems[fsType];
  if (served === undefined) throw new Error(`nothing is known of how ${fsType} takes credentials`);
  return served.credentials(credentials);
}

function setOptions(libc: Libc, context: Descriptor, options: readonly string[]): void {
  for (const option of options) {
    const equals = option.indexOf("=");
    if (equals === -1) libc.fsconfig(context.fd, FSCONFIG.SET_FLAG, option, null);
    else libc.fsconfig(context.fd, FSCONFIG.SET_STRING, option.slice(0, equals), option.slice(equals + 1));
  }
}

function openContext(libc: Libc, fsType: string): Descriptor {
  try {
    return new Descriptor(libc.fsopen(fsType, FSOPEN_CLOEXEC));
  } catch (error) {
    if (errnoOf(error) !== "ENODEV") throw error;
    const other = fsType === "ceph" ? "client: FUSE" : "another fsType";
    const message = `the kernel has no file system ${fsType}: load its module on the node, or use ${other}`;
    throw new VolumeError("FilesystemUnsupported", "final", message, { cause: error });
  }
}

/** Adds what the kernel wrote into the context's log: "e tmpfs: Unknown parameter 'bogus'". */
function explained<T>(
  context: Descriptor,
  call: () => T,
  known: (error: unknown, log: string) => VolumeError | undefined = () => undefined,
): T {
  try {
    return call();
  } catch (error) {
    const log = readLog(context);
    const code = errnoOf(error);
    if (code === "EBUSY") {
      throw new VolumeError("DeviceBusy", "transient", `the device is in use: ${log || "EBUSY"}`, { cause: error });
    }
    const meaning = known(error, log);
    if (meaning !== undefined) throw meaning;
    if (code === "EINVAL") {
      const message = `the kernel refuses the options: ${log || "dmesg on the node shows which, or what else is wrong"}`;
      throw new VolumeError("OptionsRefused", "final", message, { cause: error });
    }
    throw log === "" || !(error instanceof Error) ? error : new Error(`${error.message}: ${log}`, { cause: error });
  }
}

function readLog(context: Descriptor): string {
  const lines: string[] = [];
  const buffer = Buffer.alloc(1024);
  const next = () => unlessErrno(["ENODATA"], () => readSync(context.fd, buffer)) ?? 0; // ENODATA: no more messages
  for (let length = next(); length > 0; length = next()) lines.push(buffer.toString("utf8", 0, length).trim());
  return lines.join("; ");
}

/** Mount attributes as mount_setattr(2) takes them: everything that is not wanted is cleared. */
export function attributeBits(attributes: MountAttributes): { set: number; clear: number } {
  const flags: readonly [boolean, number][] = [
    [attributes.readOnly, MOUNT_ATTR.RDONLY],
    [attributes.nosuid, MOUNT_ATTR.NOSUID],
    [attributes.nodev, MOUNT_ATTR.NODEV],
    [attributes.noexec, MOUNT_ATTR.NOEXEC],
    [attributes.nodiratime, MOUNT_ATTR.NODIRATIME],
    [attributes.nosymfollow, MOUNT_ATTR.NOSYMFOLLOW],
  ];
  let set: number = atimeBits(attributes.atime);
  let clear: number = MOUNT_ATTR.ATIME_MASK; // the access time setting can only be changed with the whole mask cleared
  for (const [wanted, bit] of flags) {
    if (wanted) set |= bit;
    else clear |= bit;
  }
  return { set, clear };
}

function atimeBits(atime: MountAttributes["atime"]): number {
  if (atime === "noatime") return MOUNT_ATTR.NOATIME;
  return atime === "strictatime" ? MOUNT_ATTR.STRICTATIME : 0;
}

/** Where an ext2, ext3 or ext4 says what to do about errors in it, and what goes on: fs/ext4/ext4.h. */
const errorsField = 1024 + 0x3c;
const errorsContinue = 1;

/**
 * The option errors= for an ext file system whose volume does not set it: continue if its superblock says so, else
 * remount-ro. The superblock's value is never taken unchecked: whoever wrote the disk could make it crash the node
 * (`errors=panic`).
 */
export function errorsOption({ fsType, source, options }: FilesystemMount): readonly string[] {
  if (!/^ext[234]$/.test(fsType) || options.some((option) => optionName(option) === "errors")) return [];
  const says = ifThere(() => readAt(source, errorsField, 2))?.readUInt16LE();
  return [`errors=${says === errorsContinue ? "continue" : "remount-ro"}`];
}

/** How many devices a message names. */
const mostMembersNamed = 8;

/**
 * Checks a btrfs that the kernel has just mounted: it must consist of the named device, and of no other device that
 * other nodes may write to. The kernel finds the devices of a btrfs by a UUID in their superblocks, and the newest
 * superblock wins: whoever can write to another disk of the node could otherwise replace the intended file system.
 * @param sys /sys, or a made tree
 * @throws VolumeError FilesystemUnsupported
 */
export function refuseForeignMembers(sys: string, source: string, deviceNumber: string): void {
  const name = basename(realpathSync(`${sys}/dev/block/${deviceNumber}`));
  const mounted = (ifThere(() => readdirSync(`${sys}/fs/btrfs`)) ?? []).map(
    (uuid) => `${sys}/fs/btrfs/${uuid}/devices`,
  );
  const membersIn = (place: string) => ifThere(() => readdirSync(place)) ?? [];
  const place = mounted.find((one) => membersIn(one).includes(name));
  const others = place === undefined ? [] : membersIn(place).filter((one) => one !== name);
  const strange = others.flatMap((one) => {
    const number = attribute(`${place}/${one}/dev`);
    const by = number === "" ? "nobody any more" : attachedBy(sys, number);
    return by === undefined ? [] : [`/dev/${one} (attached by ${by})`];
  });
  if (place !== undefined && strange.length === 0) return;
  const what = place === undefined ? "without it, of another device" : `with ${listed(strange, mostMembersNamed)}`;
  const message = `the btrfs on ${source} would be mounted ${what}: the kernel finds its devices by a UUID, and who can write to a disk that is attached from elsewhere can give it that. Take such disks off the node, or use a btrfs of the node's own disks`;
  throw new VolumeError("FilesystemUnsupported", "transient", message, { on: { kind: "Device", name: source } });
}
