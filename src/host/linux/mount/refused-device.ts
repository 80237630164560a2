import { closeSync, openSync, readSync, realpathSync, statSync } from "node:fs";
import { basename, dirname } from "node:path";
import { quoted } from "../../../api/values/printable.ts";
import { VolumeError } from "../../../errors.ts";
import type { MountEntry } from "../../mount-table/mountinfo.ts";
import type { FilesystemMount } from "../../ports/host-ports.ts";
import { ifThere } from "../syscall/errno.ts";
import { ownMounts } from "../syscall/proc.ts";

/** Where the UUID is of what may be mounted once at a time, and how a copy gets one of its own. */
const identities: { readonly [fsType: string]: { readonly at: number; readonly renew: string } } = {
  xfs: { at: 32, renew: "xfs_admin -U generate" },
  btrfs: { at: 0x10020, renew: "btrfstune -m" },
};
const onDevices = new Set(["ext2", "ext3", "ext4", ...Object.keys(identities)]);

/** The agent's own, of a volume that is not written to (plugins/local/read-only-device.ts). All of these take them. */
const own = new Set(["ro", "norecovery", "rescue=nologreplay"]);

/**
 * What it means that the kernel does not mount what is on a device. It has one word for most causes (EINVAL), and none
 * for people: they are in its log.
 * @returns undefined if it may be the options
 */
export function refusedDevice(
  request: FilesystemMount,
  code: string | undefined,
  log: string,
): VolumeError | undefined {
  const { fsType, source, options } = request;
  if (!onDevices.has(fsType) || (code !== "EINVAL" && code !== "EEXIST")) return undefined;
  const twin = twinOf(fsType, source);
  if (twin !== undefined) return duplicate(request, twin);
  if (code !== "EINVAL" || options.some((option) => !own.has(option))) return undefined;
  const why = log === "" ? "dmesg on the node shows why" : log;
  const message = `the kernel does not mount the ${fsType} on ${source}: ${why}. It may have features that this kernel does not know, be larger than the device, or have the UUID of another that is mounted`;
  return new VolumeError("FilesystemUnsupported", "final", message, { on: { kind: "Device", name: source } });
}

function duplicate({ fsType, source }: FilesystemMount, { point, source: other }: MountEntry): VolumeError {
  const message = `the ${fsType} on ${source} has the UUID of the one on ${other}, which is mounted on ${quoted(point)}, and the kernel mounts no two of them: unmount that, or, if one is a copy and both are needed, give this one a UUID of its own (${identities[fsType]?.renew} ${source})`;
  return new VolumeError("FilesystemDuplicate", "transient", message, { on: { kind: "Mount", name: point } });
}

/** What is mounted of another device, and has the same UUID. */
function twinOf(fsType: string, source: string): MountEntry | undefined {
  const uuid = uuidOf(fsType, source);
  if (uuid === undefined) return undefined;
  return ownMounts().find((mount) => {
    const node = mount.fsType === fsType && nodesOf(mount, source).find((path) => isAnother(path, source));
    return node && uuidOf(fsType, node) === uuid;
  });
}

/**
 * Where nodes of a mounted device may be: by the kernel's name beside that of another, or as its mount says. A btrfs
 * has no device number.
 */
function nodesOf({ device, source }: MountEntry, beside: string): readonly string[] {
  const name = ifThere(() => basename(realpathSync(`/sys/dev/block/${device}`))) ?? basename(source);
  return [`${dirname(beside)}/${name}`, `/dev/${name}`, source];
}

function isAnother(path: string, source: string): boolean {
  const [one, other] = [path, source].map((of) => ifThere(() => statSync(of)));
  return one?.isBlockDevice() === true && one.rdev !== other?.rdev;
}

function uuidOf(fsType: string, path: string): string | undefined {
  const identity = identities[fsType];
  return identity && ifThere(() => readAt(path, identity.at, 16))?.toString("hex");
}

/** @returns undefined if there are fewer */
export function readAt(path: string, at: number, length: number): Buffer | undefined {
  const fd = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(length);
    return readSync(fd, bytes, 0, length, at) === length ? bytes : undefined;
  } finally {
    closeSync(fd);
  }
}
