import type { LocalVolumeSource } from "../api/types.gen.ts";
import { VolumeError } from "../errors.ts";
import type { Disk } from "../host/disk.ts";
import { foundSource } from "./found-source.ts";
import { stagedPath } from "./host-path.ts";
import { type FoundDevice, stageDevice } from "./local-device.ts";
import { diskOfVolume, nodeOf } from "./local-disk.ts";
import type { StageContext, Staged, StagingPlugin, VolumeSpec } from "./plugin.ts";

/**
 * A directory of the node, or a block device: mounted with the file system that is on it, formatted only if fsType says
 * with what and it is proved empty (law L11), or bound as it is (volumeMode Block). (kubelet: pkg/volume/local, which
 * formats with ext4 if no fsType is named)
 */
export const local: StagingPlugin = {
  type: "local",

  layout(spec) {
    const { path } = sourceOf(spec);
    const options = spec.mountOptions;
    const devices = spec.volumeMode === "Block";
    const group = devices ? {} : ({ group: "walk" } as const);
    return { options, readOnly: false, devices, ...group, ...(path !== undefined && { hostPath: path }) };
  },

  async stage(spec: VolumeSpec, context: StageContext): Promise<Staged> {
    const mounted = await mountedDevice(spec, context);
    if (mounted !== undefined) return stageDevice(spec, mounted, context);
    const { path, disk: asked } = sourceOf(spec);
    const disk = asked && (await diskOfVolume(asked, context));
    const source = disk === undefined ? { root: context.hostRoot, path: path ?? "" } : nodeOf(disk, context);
    return stageSource(spec, source.path, disk, context);
  },
};

/**
 * The disk that a selector has found before and that is mounted still: it is not looked for, as it is neither empty nor free now.
 */
async function mountedDevice(spec: VolumeSpec, context: StageContext): Promise<FoundDevice | undefined> {
  const { stagingMount, found } = context;
  if (sourceOf(spec).disk === undefined || stagingMount === undefined) return undefined;
  if (found?.deviceNumber !== undefined) return { ...found, deviceNumber: found.deviceNumber };
  const info = await context.mounter.inspect({ root: "/", path: stagingMount.source });
  if (info?.kind !== "blockDevice" || info.deviceNumber === undefined) {
    const message = `${stagingMount.source}, which is mounted on ${stagingMount.point}, is no device that can be looked at`;
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
  const info = await context.mounter.inspect({ root: context.hostRoot, path });
  if (info === undefined) {
    const message = `there is no ${path} on the node: a local volume is never made, only used`;
    throw new VolumeError("SourceNotFound", "final", message, { on: { kind: "Path", name: path } });
  }
  const found = foundSource(path, info, context);
  const { deviceNumber } = found;
  if (disk !== undefined && deviceNumber !== disk.deviceNumber) {
    const message = `${path} stands for ${deviceNumber ?? `a ${info.kind}`}, not for the disk ${disk.deviceNumber} of that name`;
    throw new VolumeError("DiskNotFound", "final", message, { on: { kind: "Device", name: path } });
  }
  if (found.kind === "blockDevice" && deviceNumber !== undefined) {
    if (spec.volumeMode === "Filesystem") return stageDevice(spec, { ...found, deviceNumber }, context, { disk });
    if (disk !== undefined) await keepRaw(disk, context);
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

/** A raw disk has no file system by which it would be known after a reboot: without a name of its own another could be taken then. */
async function keepRaw(disk: Disk, context: StageContext): Promise<void> {
  if (disk.lastingName === undefined) {
    const message = `/dev/${disk.name} has neither wwid nor serial, so nothing would tell it from others after a reboot: with volumeMode Block name it by local.path`;
    throw new VolumeError("DiskNotFound", "final", message, { on: { kind: "Device", name: disk.name } });
  }
  await context.recordDisk(disk, undefined);
}

function sourceOf(spec: VolumeSpec): LocalVolumeSource {
  if (spec.source.local === undefined) throw new Error("not a local volume");
  return spec.source.local;
}
