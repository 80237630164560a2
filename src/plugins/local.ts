import type { LocalVolumeSource } from "../api/types.gen.ts";
import { VolumeError } from "../errors.ts";
import type { DeviceInfo } from "../host/ports.ts";
import { foundSource } from "./found-source.ts";
import { stagedPath } from "./host-path.ts";
import type { FoundSource, StageContext, Staged, StagingPlugin, VolumeSpec } from "./plugin.ts";
import { stageFilesystem } from "./staging.ts";

/** What may be mounted from a disk, whoever has written it: the kernel's drivers for others trust what they read more. */
const mountable = ["ext2", "ext3", "ext4", "xfs", "btrfs"];

/**
 * A directory of the node, or a block device: mounted with the file system that is on it, formatted only if fsType says
 * with what and it is proved empty (law L11), or bound as it is (volumeMode Block). (kubelet: pkg/volume/local, which
 * formats with ext4 if no fsType is named)
 */
export const local: StagingPlugin = {
  type: "local",

  layout: (spec) => ({
    options: spec.mountOptions,
    readOnly: false,
    devices: spec.volumeMode === "Block",
    hostPath: sourceOf(spec).path,
  }),

  async stage(spec: VolumeSpec, context: StageContext): Promise<Staged> {
    const { path } = sourceOf(spec);
    const source = { root: context.hostRoot, path };
    const info = await context.mounter.inspect(source);
    if (info === undefined) {
      const message = `there is no ${path} on the node: a local volume is never made, only used`;
      throw new VolumeError("SourceNotFound", "final", message, { on: { kind: "Path", name: path } });
    }
    const found = foundSource(path, info, context);
    const { deviceNumber } = found;
    if (found.kind === "blockDevice" && deviceNumber !== undefined) {
      if (spec.volumeMode === "Filesystem") return stageDevice(spec, { ...found, deviceNumber }, context);
      return { ...stagedPath(info, found), kind: "device", deviceNumber };
    }
    if (spec.volumeMode === "Block" || spec.fsType !== undefined || spec.mountOptions.length > 0) {
      const asked =
        spec.volumeMode === "Block" ? "volumeMode: Block" : spec.fsType === undefined ? "mountOptions" : "fsType";
      throw new VolumeError("SourceWrongType", "final", `${path} is a ${info.kind}, but ${asked} needs a block device`);
    }
    if (info.kind === "directory") return stagedPath(info, found);
    throw new VolumeError("SourceWrongType", "final", `${path} is a ${info.kind}, not a directory or block device`);
  },
};

/** A device as it was found: from here on by the path of its node, on which no link can lead elsewhere any more. */
export type FoundDevice = FoundSource & { readonly deviceNumber: string };

/** Mounts a device with the file system that is on it, or that it gets if it is empty and fsType names one. */
export async function stageDevice(
  spec: VolumeSpec,
  found: FoundDevice,
  context: StageContext,
  readOnly = false,
): Promise<Staged> {
  const options = spec.mountOptions;
  const { path, deviceNumber } = found;
  const { stagingMount } = context;
  if (stagingMount !== undefined) {
    // It is of the disk that was found when it was mounted, which may have another name now.
    const mounted = context.found?.deviceNumber === undefined ? found : context.found;
    const device = { found: mounted, deviceNumber: mounted.deviceNumber ?? deviceNumber };
    const { fsType, source } = stagingMount;
    return stageFilesystem(context, { fsType, source, options }, false, device);
  }
  const device = await context.devices.probe({ root: "/", path });
  if (device.busy !== undefined) {
    throw new VolumeError("DeviceBusy", "transient", device.busy, { on: { kind: "Device", name: path } });
  }
  // A signature says that mkfs came to its end: it writes that last.
  if (device.signature !== undefined && context.formatting !== undefined) await context.recordFormatting(undefined);
  const fsType = device.signature ?? (await format(spec, path, device, context));
  if (spec.fsType !== undefined && spec.fsType !== fsType) {
    const message = `${path} has ${fsType}, but fsType ${spec.fsType} is asked for; it is not formatted again`;
    throw new VolumeError("FilesystemMismatch", "final", message);
  }
  if (!mountable.includes(fsType)) {
    const message = `${path} has ${fsType}, which is neither mounted nor formatted: only ${mountable.join(", ")} are mounted`;
    throw new VolumeError("FilesystemUnsupported", "final", message);
  }
  return stageFilesystem(context, { fsType, source: device.path, options }, readOnly, { found, deviceNumber });
}

/** @returns the file system that is on the device now */
async function format(spec: VolumeSpec, path: string, device: DeviceInfo, context: StageContext): Promise<string> {
  const begun = device.identity !== undefined && device.identity === context.formatting ? device.identity : undefined;
  const { fsType } = spec;
  const on = { kind: "Device", name: path };
  if (!device.empty && begun === undefined) {
    const message = `${path} has no file system that is known, but data: it is not formatted. Empty it by hand`;
    throw new VolumeError("DeviceNotEmpty", "final", message, { on });
  }
  if (fsType === undefined) {
    const message = `${path} is empty: name the file system to make in fsType, or make one by hand`;
    throw new VolumeError("FilesystemMissing", "final", message, { on });
  }
  await context.recordFormatting(device.identity);
  context.progress(`formatting ${path} with ${fsType}`);
  const onProgress = (line: string) => context.progress(`mkfs.${fsType}: ${line}`);
  await context.devices.format({ root: "/", path }, fsType, onProgress, begun);
  await context.recordFormatting(undefined);
  return fsType;
}

function sourceOf(spec: VolumeSpec): LocalVolumeSource {
  if (spec.source.local === undefined) throw new Error("not a local volume");
  return spec.source.local;
}
