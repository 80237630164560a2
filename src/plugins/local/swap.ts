import { VolumeError } from "../../errors.ts";
import type { Disk } from "../../host/ports/disk.ts";
import type { DeviceInfo } from "../../host/ports/host-ports.ts";
import type { Swap, SwapHow } from "../../host/ports/swaps.ts";
import type { FoundSource, StageContext, Staged, VolumeSpec } from "../api/volume-plugin.ts";
import { refuseAttached } from "./attached-disk.ts";
import { emptied, type FoundDevice, format, howToDestroy, keptDisk, probe } from "./local-device.ts";
import { requireGrantIfShared } from "./shared-disk.ts";

/** How a device becomes swap. */
export interface SwapOn {
  /** The disk that a selector has found. */
  readonly disk?: Disk | undefined;
  /** The device is made of what was found, by LVM or LUKS. */
  readonly made?: { readonly found?: FoundSource } | undefined;
  /**
   * Brings the layers beneath to their size, once it is known that what they hold is swap.
   * @returns whether they have one
   */
  readonly grow?: (() => Promise<boolean>) | undefined;
}

/** Has the node swap to a device: to the swap area that is there, or to one that it gets if it is empty. */
export async function stageSwap(
  spec: VolumeSpec,
  found: FoundDevice,
  context: StageContext,
  { disk, made, grow }: SwapOn = {},
): Promise<Staged> {
  const { path, deviceNumber } = found;
  const shown = made === undefined ? { found, deviceNumber } : { ...made, deviceNumber, devicePath: path };
  const on = context.swaps.read().devices.get(deviceNumber);
  if (on === undefined) {
    const device = await areaOn(spec, path, context, { disk, made, grow });
    await context.record({ kind: "swap", path, ...shown });
    await turnOn(spec, device, context);
  } else if (context.swapDevice !== deviceNumber) throw ofSomebodyElse(on, path);
  const info = await context.mounter.inspect({ root: "/", path });
  if (info === undefined) throw new VolumeError("SetUpFailed", "transient", `${path} is not there any more`);
  return { kind: "swap", path, fileKind: "file", identity: info.identity, ...shown };
}

/** What has surely failed has turned nothing on: swap that is on there now, or later, is somebody else's. */
async function turnOn(spec: VolumeSpec, device: DeviceInfo, context: StageContext): Promise<void> {
  try {
    await context.swaps.on(device, swapHow(spec.mountOptions));
  } catch (error) {
    if (error instanceof VolumeError && error.errorClass !== "uncertain") await context.recordNoSwap();
    throw error;
  }
}

/** The device with a swap area, that of before or a new one. */
async function areaOn(
  spec: VolumeSpec,
  path: string,
  context: StageContext,
  { disk, made: layered, grow }: SwapOn,
): Promise<DeviceInfo> {
  const seen = await probe(path, disk, context);
  const kept = layered === undefined ? keptDisk(spec, seen, disk, context) : disk;
  if (layered === undefined) await requireGrantIfShared(seen, context);
  if (layered === undefined) await refuseAttached(spec, seen, context);
  const device = await emptied(spec, seen, { disk, kept }, context);
  if (device.signature !== undefined && context.formatting !== undefined) await context.recordFormatting(undefined);
  if (device.signature !== undefined && device.signature !== "swap") throw noSwapArea(spec, disk, device);
  const sized = (await grow?.()) === true;
  const area = sized ? await withoutSmallArea(device, context) : device;
  if (area.signature === undefined) await format(spec, path, area, { disk, kept, readOnly: false }, context);
  const made = await probe(path, disk, context);
  if (kept !== undefined) await context.recordDisk(kept, made.uuid);
  return made;
}

/** An area that is smaller than its device, which has grown, goes: nothing is in it while nobody swaps to it. */
async function withoutSmallArea(before: DeviceInfo, context: StageContext): Promise<DeviceInfo> {
  const device = await context.devices.probe({ root: "/", path: before.path });
  const { signature, swapBytes, sizeBytes, contents, busy } = device;
  const small = swapBytes !== undefined && sizeBytes - swapBytes >= pageBytes;
  if (signature !== "swap" || !small || contents === undefined || busy !== undefined) return device;
  context.progress(`making the swap area of ${device.path} anew, as it has ${swapBytes} of ${sizeBytes} bytes`);
  await context.devices.wipe(device, contents);
  return context.devices.probe({ root: "/", path: before.path });
}

/** The largest page of any kernel: an area ends with a whole one. */
const pageBytes = 65_536;

/** PURE. What options of fstab(5) say of swap. */
export function swapHow(options: readonly string[]): SwapHow {
  const named = (name: string) => options.find((option) => option.split("=")[0] === name)?.split("=");
  const [, priority] = named("pri") ?? [];
  const discard = named("discard");
  const which = discard?.[1] === "once" || discard?.[1] === "pages" ? discard[1] : ("both" as const);
  return { ...(priority !== undefined && { priority: Number(priority) }), ...(discard && { discard: which }) };
}

function ofSomebodyElse({ path: as }: Swap, path: string): VolumeError {
  const message = `the node swaps to ${path} already, turned on by somebody else (${as}): turn it off there (swapoff ${as}), and take it out of fstab or its unit`;
  return new VolumeError("DeviceBusy", "transient", message, { on: { kind: "Device", name: path } });
}

function noSwapArea(spec: VolumeSpec, disk: Disk | undefined, device: DeviceInfo): VolumeError {
  const message = `${device.path} has ${device.signature}, but fsType swap is specified; it is not formatted again${howToDestroy(spec, disk, device)}`;
  return new VolumeError("FilesystemMismatch", "final", message, { on: { kind: "Device", name: device.path } });
}
