import { isOfNodeItself } from "../../api/source-traits.ts";
import { VolumeError } from "../../errors.ts";
import type { Disk } from "../../host/ports/disk.ts";
import type { SourceInfo } from "../../host/ports/host-ports.ts";
import { secretContent } from "../api/content.ts";
import { refuseMadeName } from "../api/made-names.ts";
import type { ExpandingPlugin } from "../api/teardown.ts";
import { type StageContext, type Staged, sourceOf, type VolumeSpec } from "../api/volume-plugin.ts";
import { foundSource } from "../host/found-source.ts";
import { stagedPath } from "../host/host-path.ts";
import { asDevice, type FoundDevice, keptDisk, stageDevice } from "./local-device.ts";
import { diskOfVolume, nodeOf } from "./local-disk.ts";
import { expandLayers } from "./local-growth.ts";
import { type Base, LayeredStaging } from "./local-layers.ts";
import { closeLayers } from "./local-teardown.ts";
import { stageSwap } from "./swap.ts";

/**
 * A directory of the node, or a block device: mounted with the file system that is on it, formatted only if fsType says
 * with what and it looks empty (law L11), or bound as it is (volumeMode Block). (kubelet: pkg/volume/local, which
 * formats with ext4 if no fsType is named) Beneath it a logical volume may be made, and LUKS (decision 0053). Or the
 * node swaps to it (0054).
 */
export const local: ExpandingPlugin = {
  type: "local",

  layout(spec) {
    const { path, lvm, encryption } = sourceOf(spec, "local");
    const options = spec.mountOptions;
    const devices = spec.volumeMode === "Block";
    const swap = isOfNodeItself(spec) || undefined;
    const group = devices || swap ? {} : ({ group: "walk" } as const);
    const secret = encryption?.secretRef && {
      content: [secretContent(encryption.secretRef)],
      credentials: true,
      opens: true,
    };
    return {
      ...{ options, readOnly: false, devices, ...group, ...secret },
      ...(path !== undefined && { hostPath: path }),
      ...(lvm && !swap && { grows: true }), // swap that is on does not grow: it is turned off and on again
      ...(swap && { swap }),
    };
  },

  async stage(spec, context) {
    const { lvm, encryption } = sourceOf(spec, "local");
    if (lvm !== undefined || encryption !== undefined) {
      return new LayeredStaging(spec, sourceOf(spec, "local"), context).stage(() => findBase(spec, context));
    }
    const mounted = await mountedDevice(spec, context);
    if (mounted !== undefined) return stageDevice(spec, mounted, context);
    const { path, disk: asked } = sourceOf(spec, "local");
    const disk = asked && (await diskOfVolume(asked, context));
    const source = disk === undefined ? { root: context.hostRoot, path: path ?? "" } : nodeOf(disk, context);
    return stageSource(spec, source.path, disk, context);
  },

  detach: closeLayers,
  expand: expandLayers,
};

/** The device that a layer is made on. */
async function findBase(spec: VolumeSpec, context: StageContext): Promise<Base> {
  const { path: named = "", disk: asked } = sourceOf(spec, "local");
  const disk = asked && (await diskOfVolume(asked, context));
  const path = disk === undefined ? named : nodeOf(disk, context).path;
  const found = foundSource(path, await lookAt(path, context), context);
  const device = asDevice(found);
  if (found.kind === "blockDevice" && device !== undefined) {
    await refuseMadeName(path, found, context);
    return { found: device, disk };
  }
  const message = `${path} is a ${found.kind}, but encryption needs a block device`;
  throw new VolumeError("SourceWrongType", "final", message, { on: { kind: "Path", name: path } });
}

/** @throws VolumeError SourceNotFound */
async function lookAt(path: string, context: StageContext): Promise<SourceInfo> {
  const info = await context.mounter.inspect({ root: context.hostRoot, path });
  if (info !== undefined) return info;
  const message = `there is no ${path} on the node: a local volume is never made, only used`;
  throw new VolumeError("SourceNotFound", "final", message, { on: { kind: "Path", name: path } });
}

/** The disk that a selector found, if it is mounted still: it is not searched, as it is neither empty nor free now. */
async function mountedDevice(spec: VolumeSpec, context: StageContext): Promise<FoundDevice | undefined> {
  const { stagingMount, found } = context;
  if (sourceOf(spec, "local").disk === undefined || stagingMount === undefined) return undefined;
  const before = asDevice(found);
  if (before !== undefined) return before;
  const info = await context.mounter.inspect({ root: "/", path: stagingMount.source });
  if (info?.kind !== "blockDevice" || info.deviceNumber === undefined) {
    const message = `${stagingMount.source}, which is mounted on ${stagingMount.point}, is no device that can be checked`;
    throw new VolumeError("SourceNotFound", "final", message);
  }
  return { path: info.canonicalPath, kind: info.kind, deviceNumber: info.deviceNumber };
}

/** @param disk the one that a selector has found at this path */
async function stageSource(
  spec: VolumeSpec,
  path: string,
  disk: Disk | undefined,
  context: StageContext,
): Promise<Staged> {
  const info = await lookAt(path, context);
  const found = foundSource(path, info, context);
  const { deviceNumber } = found;
  if (disk !== undefined && deviceNumber !== disk.deviceNumber) {
    const message = `${path} stands for ${deviceNumber ?? `a ${info.kind}`}, not for the disk ${disk.deviceNumber} of that name`;
    throw new VolumeError("DiskNotFound", "final", message, { on: { kind: "Device", name: path } });
  }
  if (found.kind === "blockDevice" && deviceNumber !== undefined) {
    await refuseMadeName(path, found, context);
    if (isOfNodeItself(spec)) return stageSwap(spec, { ...found, deviceNumber }, context, { disk });
    if (spec.volumeMode === "Filesystem") return stageDevice(spec, { ...found, deviceNumber }, context, { disk });
    await keepRaw(spec, { path: found.path, deviceNumber, disk }, context);
    return { ...stagedPath(info, found), kind: "device", deviceNumber };
  }
  if (spec.volumeMode === "Block" || spec.fsType !== undefined || spec.mountOptions.length > 0) {
    const asked =
      spec.volumeMode === "Block" ? "volumeMode: Block" : spec.fsType === undefined ? "mountOptions" : "fsType";
    throw new VolumeError("SourceWrongType", "final", `${path} is a ${info.kind}, but ${asked} needs a block device`);
  }
  if (info.kind === "directory") return stagedPath(info, found);
  throw new VolumeError("SourceWrongType", "final", `${path} is a ${info.kind}, not a directory or block device`);
}

/**
 * A raw disk has no file system by which it would be known after a reboot. Without a name of its own another could be
 * taken then for one that was chosen, and is for one that people have named.
 */
async function keepRaw(
  spec: VolumeSpec,
  { path, deviceNumber, disk }: RawDevice,
  context: StageContext,
): Promise<void> {
  if (disk !== undefined && disk.lastingName === undefined) {
    const message = `/dev/${disk.name} has neither wwid nor serial, so nothing would identify it after a reboot: with volumeMode Block name it by local.path`;
    throw new VolumeError("DiskNotFound", "final", message, { on: { kind: "Device", name: disk.name } });
  }
  if (disk !== undefined) return context.recordDisk(disk, undefined);
  const attributes = await context.devices.attributes(deviceNumber);
  const kept = keptDisk(spec, { path, ...attributes }, undefined, context);
  if (kept?.lastingName !== undefined) await context.recordDisk({ ...kept, shared: true }, undefined);
}

interface RawDevice {
  readonly path: string;
  readonly deviceNumber: string;
  /** The one that a selector has found. */
  readonly disk: Disk | undefined;
}
