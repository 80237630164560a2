import type { VolumeSource } from "../../../src/api/types.gen.ts";
import { VolumeError } from "../../../src/errors.ts";
import type {
  SourceType,
  StageContext,
  Staged,
  StagingPlugin,
  VolumeSpec,
} from "../../../src/plugins/api/volume-plugin.ts";
import { memorySource, stageFilesystem } from "../../../src/plugins/staging.ts";

/** Generated from the CRDs, if this were a plugin of the project. */
interface MergedVolumeSource {
  /** Directories of the node, the first one on top. */
  readonly paths: readonly string[];
}

/**
 * Shows several directories of the node as one, read-only: an overlay mount without an upper directory. If two
 * directories have a file of the same name, the file of the first one shows.
 */
export const merged: StagingPlugin = {
  type: "merged" as SourceType,

  layout: (spec) => ({
    options: [],
    readOnly: true,
    devices: false,
    filesystem: { types: ["overlay"], source: memorySource(spec), own: true },
  }),

  async stage(spec: VolumeSpec, context: StageContext): Promise<Staged> {
    const directories: string[] = [];
    for (const [index, path] of sourceOf(spec).paths.entries()) {
      directories.push(await directoryAt(path, `.spec.source.merged.paths[${index}]`, context));
    }
    const options = [`lowerdir=${directories.join(":")}`];
    return stageFilesystem(context, { fsType: "overlay", source: memorySource(spec), options }, true);
  },
};

async function directoryAt(path: string, field: string, { mounter, hostRoot }: StageContext): Promise<string> {
  const on = { kind: "Path", name: path };
  const info = await mounter.inspect({ root: hostRoot, path });
  if (info === undefined) {
    const message = `${field}: there is no ${path} on the node: make it`;
    throw new VolumeError("SourceNotFound", "final", message, { on });
  }
  if (info.kind !== "directory" || /[:,\\]/.test(info.canonicalPath)) {
    const message = `${field}: ${path} is a ${info.kind} at ${info.canonicalPath}: name a directory whose path is without : , and \\`;
    throw new VolumeError("SourceWrongType", "final", message, { on });
  }
  return info.canonicalPath;
}

function sourceOf(spec: VolumeSpec): MergedVolumeSource {
  const { merged: source } = spec.source as VolumeSource & { readonly merged?: MergedVolumeSource };
  if (source === undefined) throw new Error("not a merged volume");
  return source;
}
