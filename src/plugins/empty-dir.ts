import { quantityBytes } from "../api/quantity.ts";
import type { StageContext, Staged, StagingPlugin, VolumeSpec } from "./plugin.ts";
import { memoryFilesystem, memorySource, stageDirectory, stageFilesystem } from "./staging.ts";

/**
 * A directory of the node's own, empty at first. On disk it is a directory (0777) beneath the state directory, in
 * memory a tmpfs. Both are gone with the volume. (kubelet: pkg/volume/emptydir)
 */
export const emptyDir: StagingPlugin = {
  type: "emptyDir",

  layout: (spec) => ({
    options: options(spec),
    readOnly: false,
    devices: false,
    ...(inMemory(spec) && { filesystem: memoryFilesystem(spec) }),
  }),

  async stage(spec: VolumeSpec, context: StageContext): Promise<Staged> {
    if (!inMemory(spec)) return stageDirectory(context, 0o777);
    return stageFilesystem(context, { fsType: "tmpfs", source: memorySource(spec), options: options(spec) });
  },
};

function inMemory(spec: VolumeSpec): boolean {
  return spec.source.emptyDir?.medium === "Memory";
}

function options(spec: VolumeSpec): string[] {
  const { sizeLimit } = spec.source.emptyDir ?? {};
  if (!inMemory(spec)) return [];
  return ["mode=0777", ...(sizeLimit === undefined ? [] : [`size=${quantityBytes(sizeLimit)}`])];
}
