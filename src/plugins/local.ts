import type { LocalVolumeSource } from "../api/types.gen.ts";
import { VolumeError } from "../errors.ts";
import type { DeviceInfo, SourcePath } from "../host/ports.ts";
import { stagedPath } from "./host-path.ts";
import type { StageContext, Staged, VolumePlugin, VolumeSpec } from "./plugin.ts";
import { stageFilesystem } from "./staging.ts";

const defaultFsType = "ext4"; // kubelet's default (behaviour 119)

/**
 * A directory of the node, or a block device: mounted with the file system that is on it, formatted only if it is
 * proved empty (law L11), or bound as it is (volumeMode Block). (kubelet: pkg/volume/local)
 */
export const local: VolumePlugin = {
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
    if (info.kind === "blockDevice" && info.deviceNumber !== undefined) {
      const deviceNumber = info.deviceNumber;
      if (spec.volumeMode === "Filesystem") return { ...(await stageDevice(spec, source, context)), deviceNumber };
      return { ...stagedPath(info), kind: "device", deviceNumber };
    }
    if (spec.volumeMode === "Block" || spec.fsType !== undefined || spec.mountOptions.length > 0) {
      const asked =
        spec.volumeMode === "Block" ? "volumeMode: Block" : spec.fsType === undefined ? "mountOptions" : "fsType";
      throw new VolumeError("SourceWrongType", "final", `${path} is a ${info.kind}, but ${asked} needs a block device`);
    }
    if (info.kind === "directory") return stagedPath(info);
    throw new VolumeError("SourceWrongType", "final", `${path} is a ${info.kind}, not a directory or block device`);
  },
};

async function stageDevice(spec: VolumeSpec, source: SourcePath, context: StageContext): Promise<Staged> {
  const options = spec.mountOptions;
  if (context.stagingMount !== undefined) {
    return stageFilesystem(context, {
      fsType: context.stagingMount.fsType,
      source: context.stagingMount.source,
      options,
    });
  }
  const device = await context.devices.probe(source);
  if (device.busy !== undefined) {
    throw new VolumeError("DeviceBusy", "transient", device.busy, { on: { kind: "Device", name: source.path } });
  }
  // A signature says that mkfs came to its end: it writes that last.
  if (device.signature !== undefined && context.formatting !== undefined) await context.recordFormatting(undefined);
  const fsType = device.signature ?? (await format(spec, source, device, context));
  if (spec.fsType !== undefined && spec.fsType !== fsType) {
    const message = `${source.path} has ${fsType}, but fsType ${spec.fsType} is asked for; it is not formatted again`;
    throw new VolumeError("FilesystemMismatch", "final", message);
  }
  return stageFilesystem(context, { fsType, source: device.path, options });
}

/** @returns the file system that is on the device now */
async function format(
  spec: VolumeSpec,
  source: SourcePath,
  device: DeviceInfo,
  context: StageContext,
): Promise<string> {
  const begun = device.identity !== undefined && device.identity === context.formatting ? device.identity : undefined;
  if (!device.empty && begun === undefined) {
    const message = `${source.path} has no file system that is known, but data: it is not formatted. Empty it by hand`;
    throw new VolumeError("DeviceNotEmpty", "final", message, { on: { kind: "Device", name: source.path } });
  }
  const fsType = spec.fsType ?? defaultFsType;
  await context.recordFormatting(device.identity);
  context.progress(`formatting ${source.path} with ${fsType}`);
  await context.devices.format(source, fsType, (line) => context.progress(`mkfs.${fsType}: ${line}`), begun);
  await context.recordFormatting(undefined);
  return fsType;
}

function sourceOf(spec: VolumeSpec): LocalVolumeSource {
  if (spec.source.local === undefined) throw new Error("not a local volume");
  return spec.source.local;
}
