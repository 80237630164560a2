import { VolumeError } from "../../errors.ts";
import type { Disk } from "../../host/ports/disk.ts";
import type { DeviceAttributes, DeviceInfo, FilesystemMount } from "../../host/ports/host-ports.ts";
import { type ChosenDisk, chosenOf, contentsName, isOtherDisk, type KnownDisk } from "../api/disk-choice.ts";
import { sourceDiffers } from "../api/source-differs.ts";
import type { FoundSource, StageContext, Staged, VolumeSpec } from "../api/volume-plugin.ts";
import { stageFilesystem } from "../staging.ts";
import { refuseAttached } from "./attached-disk.ts";
import { isRest, isSomebodys, restRecord } from "./format-licence.ts";
import { readOnlyOptions, refuseJournalLeft } from "./read-only-device.ts";
import { requireGrantIfShared } from "./shared-disk.ts";

/** What may be mounted from a disk, whoever has written it: the kernel's other drivers trust more what they read. */
const mountable = ["ext2", "ext3", "ext4", "xfs", "btrfs"];

/** A device as it was found: from here on by the path of its node, on which no link can lead elsewhere any more. */
export type FoundDevice = FoundSource & { readonly deviceNumber: string };

/** PURE. What was found, if it is a device. */
export function asDevice(found: FoundSource | undefined): FoundDevice | undefined {
  return found?.deviceNumber === undefined ? undefined : { ...found, deviceNumber: found.deviceNumber };
}

/** How a device of the node is staged. */
export interface DeviceHow {
  readonly readOnly?: boolean;
  /** The disk that a selector has found. */
  readonly disk?: Disk | undefined;
  /** The disk that goes on record, also where none was chosen. */
  readonly kept?: KnownDisk | undefined;
  /** The device is made of what was found, by LVM or LUKS. */
  readonly made?: { readonly found?: FoundSource };
  /** Fails if the device is not what is meant any more: asked once it was looked into, and again when it is mounted. */
  still?(): Promise<void>;
}

/** Mounts a device with the file system that is on it, or that it gets if it is empty and fsType names one. */
export async function stageDevice(
  spec: VolumeSpec,
  found: FoundDevice,
  context: StageContext,
  { readOnly = false, disk, made, still }: DeviceHow = {},
): Promise<Staged> {
  const { path, deviceNumber } = found;
  const { stagingMount } = context;
  const layered = made && { ...made, deviceNumber, devicePath: path };
  if (stagingMount !== undefined && layered !== undefined) {
    const { fsType, source } = stagingMount;
    return stageFilesystem(context, { fsType, source, options: spec.mountOptions }, readOnly, layered);
  }
  if (stagingMount !== undefined) {
    // It is of the disk that was found when it was mounted, which may have another name now.
    const mounted = context.found?.deviceNumber === undefined ? found : context.found;
    const device = { found: mounted, deviceNumber: mounted.deviceNumber ?? deviceNumber };
    const { fsType, source } = stagingMount;
    return stageFilesystem(context, { fsType, source, options: spec.mountOptions }, readOnly, device);
  }
  const seen = await probe(path, disk, context);
  const kept = made === undefined ? keptDisk(spec, seen, disk, context) : disk;
  if (made === undefined) await requireGrantIfShared(seen, context);
  if (made === undefined) await refuseAttached(spec, seen, context);
  const device = await emptied(spec, seen, { disk, kept }, context);
  await still?.();
  // A signature says that mkfs came to its end: it writes that last.
  if (device.signature !== undefined && context.formatting !== undefined) await context.recordFormatting(undefined);
  const fsType = device.signature ?? (await format(spec, path, device, { disk, kept, readOnly }, context));
  if (spec.fsType !== undefined && spec.fsType !== fsType) {
    const message = `${path} has ${fsType}, but fsType ${spec.fsType} is specified; it is not formatted again${howToDestroy(spec, disk, device)}`;
    throw new VolumeError("FilesystemMismatch", "final", message);
  }
  if (!mountable.includes(fsType)) {
    const how = fsType === "crypto_LUKS" ? "; name the Secret with its passphrase in local.encryption" : "";
    const message = `${path} has ${fsType}, which is neither mounted nor formatted: only ${mountable.join(", ")} are mounted${how}`;
    throw new VolumeError("FilesystemUnsupported", "final", message);
  }
  refuseJournalElsewhere(device, fsType);
  if (device.signature !== undefined && !readOnly) await context.devices.mend(device, fsType, context.progress);
  if (kept !== undefined) {
    const uuid = device.uuid ?? (await probe(path, disk, context)).uuid;
    await context.recordDisk(kept, uuid);
  }
  const shown = layered ?? { found, deviceNumber };
  if (readOnly) refuseJournalLeft(device, fsType);
  const options = readOnly ? readOnlyOptions(fsType, spec.mountOptions) : spec.mountOptions;
  const mount = { fsType, source: device.path, options, device: probedDevice(device) };
  const staged = await stageFilesystem(context, mount, false, shown);
  if (disk !== undefined) await refuseOther(disk, context);
  await still?.().catch(async (error: unknown) => {
    await unmounted(context);
    throw error;
  });
  return staged;
}

/**
 * Looks at a device, and proves that it is still the disk that was chosen, and that no one else has it.
 * @throws VolumeError DiskNotFound if the path stands for another disk now; DeviceBusy
 */
export async function probe(path: string, disk: Disk | undefined, context: StageContext): Promise<DeviceInfo> {
  const device = await context.devices.probe({ root: "/", path });
  if (disk !== undefined && device.identity !== disk.identity) {
    const message = `${path} stands for another disk than when it was chosen: it is chosen anew`;
    throw new VolumeError("DiskNotFound", "transient", message, { on: { kind: "Device", name: path } });
  }
  // A monitor or a backup may read every disk for good: what is there is mounted beside it, but not replaced.
  if (device.allowsMount !== true) await endLicence(device, context);
  if (device.allowsMount !== true || device.signature === undefined) refuseBusy(device);
  return device;
}

/**
 * The disk that a volume is known to have from now on: also by `local.path`, which may be another disk's after a
 * reboot.
 * @throws VolumeError SourceDiffers if it had another one
 */
export function keptDisk(
  { source: { local } }: VolumeSpec,
  device: DeviceAttributes & Pick<DeviceInfo, "path" | "uuid">,
  disk: Disk | undefined,
  { disk: before }: Pick<StageContext, "disk">,
): KnownDisk | undefined {
  if (disk !== undefined || local?.path === undefined) return disk;
  const { path, sizeBytes, identity, lastingName, uuid, endsWithBoot } = device;
  const known = {
    ...(identity !== undefined && { identity }),
    ...(lastingName !== undefined && { lastingName }),
    ...(endsWithBoot !== undefined && { endsWithBoot }),
  };
  const now = { name: path.replace(/^.*\//, ""), sizeBytes, named: true, ...known } as const;
  if (before === undefined || !isOtherDisk(before, chosenOf(now, uuid))) return now;
  const former = textOf(before, now);
  const what = `${local.path} is ${textOf(chosenOf(now, uuid), before)} now, but was ${former} when the volume was set up: it is not used`;
  throw sourceDiffers(what, `Bring back ${former}`, { kind: "Path", name: local.path });
}

/** By what tells it from the other. */
function textOf({ lastingName, uuid }: ChosenDisk, other: Pick<ChosenDisk, "lastingName">): string {
  if (lastingName !== undefined && other.lastingName !== undefined) return lastingName;
  return uuid === undefined ? "a disk with nothing on it that has a UUID" : `the disk with file system ${uuid}`;
}

/** e2fsck and the kernel would replay the journal that the superblock names, whoever has a device of this name. */
function refuseJournalElsewhere({ path, journalElsewhere = false }: DeviceInfo, fsType: string): void {
  if (!journalElsewhere || !fsType.startsWith("ext")) return;
  const message = `${path} has its journal on another device, which is named by what is on ${path} alone: it is not mounted. Give it a journal of its own on the node: tune2fs -O ^has_journal ${path}, then tune2fs -j ${path}`;
  throw new VolumeError("FilesystemUnsupported", "final", message, { on: { kind: "Device", name: path } });
}

function probedDevice({ deviceNumber, identity }: DeviceInfo): NonNullable<FilesystemMount["device"]> {
  return { deviceNumber, ...(identity !== undefined && { identity }) };
}

function refuseBusy({ busy, heldBy = [], path }: DeviceInfo): void {
  if (busy === undefined) return;
  throw new VolumeError("DeviceBusy", "transient", busy, { on: { kind: "Device", name: path }, heldBy });
}

/** Who has the device may write to it: what is read there later is not the rest of ours any more. */
async function endLicence({ busy }: DeviceInfo, context: StageContext): Promise<void> {
  if (busy === undefined || context.formatting === undefined || context.unfinished === "header") return;
  await context.recordFormatting(undefined);
}

/** While it is mounted no other disk gets its number: what is found now has been mounted. */
async function refuseOther(disk: Disk, context: StageContext): Promise<void> {
  const { devices, hostRoot } = context;
  const now = (await devices.disks(hostRoot)).find(({ deviceNumber }) => deviceNumber === disk.deviceNumber);
  if (now?.identity === disk.identity) return;
  await unmounted(context);
  const message = `/dev/${disk.name} was swapped for another disk right before it was mounted: that was unmounted again`;
  throw new VolumeError("DiskNotFound", "transient", message, { on: { kind: "Device", name: disk.name } });
}

async function unmounted({ mounter, stagingTarget }: StageContext): Promise<void> {
  const on = await mounter.inspectTarget(stagingTarget);
  if (on !== undefined) await mounter.unmount(stagingTarget, on.mountID, "Normal");
}

/**
 * A device that people have named to be destroyed, with what is on it, is emptied.
 * @returns the device as it is then
 */
export async function emptied(
  spec: VolumeSpec,
  device: DeviceInfo,
  { disk, kept = disk }: Pick<DeviceHow, "disk" | "kept">,
  context: StageContext,
): Promise<DeviceInfo> {
  const name = contentsName(disk, device);
  const { contents } = device;
  const asked = spec.fsType !== undefined && name !== undefined && spec.destroyAllDataOnDevices?.includes(name);
  if (asked !== true || contents === undefined) return device;
  refuseBusy(device);
  await refuseAttached(spec, device, context, { writes: true });
  if (kept !== undefined) await context.recordDisk(kept, undefined);
  context.progress(`destroying what is on ${device.path}, as destroyAllDataOnDevices names it: ${name}`);
  await context.devices.wipe(device, contents);
  return probe(device.path, disk, context);
}

/**
 * PURE. The end of a message about a device that is not empty: what to write so that its contents are destroyed; ""
 * where the source has no such field.
 */
export function howToDestroy(spec: VolumeSpec, disk: Disk | undefined, device: DeviceInfo): string {
  const name = contentsName(disk, device);
  // Only there it is a field.
  if (name === undefined || spec.fsType === undefined || spec.source.local === undefined) return "";
  return `. To DESTROY what is on it, add to destroyAllDataOnDevices: ${name}`;
}

/** @returns the file system that is on the device now */
export async function format(
  spec: VolumeSpec,
  path: string,
  device: DeviceInfo,
  { disk, kept = disk, readOnly }: Pick<DeviceHow, "disk" | "kept" | "readOnly">,
  context: StageContext,
): Promise<string> {
  const { identity } = device;
  const licensed = context.unfinished === "header" || (await isRest(device, context.formatting, context));
  const begun = licensed ? identity : undefined;
  const { fsType } = spec;
  const label = spec.source.local?.fsLabel;
  const on = { kind: "Device", name: path };
  if (!device.empty && begun === undefined) {
    const message = `${path} has no file system that is known, but data: it is not formatted. Empty it by hand${howToDestroy(spec, disk, device)}`;
    throw new VolumeError("DeviceNotEmpty", "final", message, { on });
  }
  if (readOnly === true) {
    const message = `${path} is empty, and the volume is read-only: it is not formatted. Take readOnly away, or make a file system by hand`;
    throw new VolumeError("FilesystemMissing", "final", message, { on });
  }
  if (fsType === undefined) {
    const message = `${path} is empty: name the file system to make in fsType, or make one by hand`;
    throw new VolumeError("FilesystemMissing", "final", message, { on });
  }
  // What a random key opens is empty at each start: a node boots without a controller.
  if (spec.source.local?.encryption?.randomKey !== true) await refuseAttached(spec, device, context, { writes: true });
  if (kept !== undefined) await context.recordDisk(kept, undefined);
  await context.recordFormatting(identity);
  context.progress(`formatting ${path} with ${fsType}`);
  const licence = begun === undefined ? {} : { begun, rest: device.contents };
  const onProgress = (line: string) => context.progress(`mkfs.${fsType}: ${line}`);
  try {
    await context.devices.format({ root: "/", path }, fsType, onProgress, { ...licence, identity, label });
  } catch (error) {
    if (context.unfinished !== "header")
      await context.recordFormatting(await licenceAfter(error, device, begun, context));
    throw error;
  }
  await context.recordFormatting(undefined);
  return fsType;
}

/** What stands on record after an mkfs that failed. @param begun the licence that it began with */
async function licenceAfter(
  error: unknown,
  device: DeviceInfo,
  begun: string | undefined,
  context: StageContext,
): Promise<string | undefined> {
  // What an mkfs that ended by itself has left on a volume of ours is the rest of ours, too.
  const leavesRest = context.unfinished === "volume" && endedByItself(error);
  if (mayHaveBegun(error) || leavesRest) return licenceOfRest(error, device, context);
  if (begun === undefined || endedByItself(error) || isSomebodys(error)) return undefined;
  return restRecord(begun, device.contents); // it never had the device: what is there is what was looked at
}

/**
 * What stands on record of the rest that something of ours has left. Where that is seen to have ended, killed at its
 * deadline or by itself, the rest is looked at at once: what is written there from now on is somebody else's. A
 * signature is not the rest of anything.
 */
export async function licenceOfRest(
  error: unknown,
  { path, identity }: DeviceInfo,
  { devices }: Pick<StageContext, "devices">,
): Promise<string | undefined> {
  if (!isKilled(error) && !endedByItself(error)) return identity;
  // It may not answer: the next attempt looks.
  const now = await devices.probe({ root: "/", path }).catch(() => undefined);
  if (identity === undefined || now?.identity !== identity || now.signature !== undefined) return identity;
  if (now.busy !== undefined && now.allowsMount !== true) return undefined;
  return restRecord(identity, now.contents);
}

function isKilled(error: unknown): boolean {
  return error instanceof VolumeError && error.reason === "TimedOut";
}

/**
 * What formats had the device, and is not at work any more: it leaves no licence, also not the one that it began with,
 * except on a volume of ours.
 */
export function endedByItself(error: unknown): boolean {
  return error instanceof VolumeError && error.reason === "FormatFailed";
}

/**
 * Whether what formats may have been cut off while it had the device. If it was not, what is on that from now on is not
 * the rest of ours: what ended by itself is not at work any more, and what is written later is somebody else's
 * (decision 0013).
 */
export function mayHaveBegun(error: unknown): boolean {
  return !(error instanceof VolumeError) || error.errorClass === "uncertain";
}
