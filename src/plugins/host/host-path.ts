import type { HostPathVolumeSource } from "../../api/types.gen.ts";
import { unreachable, VolumeError } from "../../errors.ts";
import type { FileKind, SourceInfo, SourcePath } from "../../host/ports/host-ports.ts";
import { refuseMadeName } from "../api/made-names.ts";
import {
  type FoundSource,
  type StageContext,
  type Staged,
  type StagingPlugin,
  sourceOf,
} from "../api/volume-plugin.ts";
import { foundSource } from "./found-source.ts";

type HostPathType = NonNullable<HostPathVolumeSource["type"]>;

/** A file or directory of the node, checked or made as `type` says. (kubelet: pkg/volume/hostpath) */
export const hostPath: StagingPlugin = {
  type: "hostPath",

  layout(spec) {
    const source = sourceOf(spec, "hostPath");
    const devices = source.type === "CharDevice" || source.type === "BlockDevice";
    return { options: [], readOnly: false, devices, hostPath: source.path };
  },

  async stage(spec, context) {
    const { path, type = "" } = sourceOf(spec, "hostPath");
    const source = { root: context.hostRoot, path };
    const info = (await context.mounter.inspect(source)) ?? (await create(source, type, context));
    const found = foundSource(path, info, context);
    const wanted = wantedKind(type);
    if (wanted !== undefined && info.kind !== wanted) {
      throw new VolumeError("SourceWrongType", "final", `${path} is a ${info.kind}, but type ${type} is specified`);
    }
    await refuseMadeName(path, found, context);
    return stagedPath(info, found);
  },
};

/** A path of the host, as it was found. */
export function stagedPath(info: SourceInfo, found: FoundSource): Staged {
  const fileKind = info.kind === "directory" ? "directory" : "file";
  return { kind: "path", path: found.path, fileKind, identity: info.identity, found };
}

async function create(source: SourcePath, type: HostPathType, context: StageContext): Promise<SourceInfo> {
  if (type === "DirectoryOrCreate") await context.mounter.makeSource(source, "directory", 0o755);
  if (type === "FileOrCreate") await context.mounter.makeSource(source, "file", 0o644);
  const info = await context.mounter.inspect(source);
  if (info !== undefined) return info;
  const message = `there is no ${source.path} on the node: make it, or use type DirectoryOrCreate or FileOrCreate`;
  throw new VolumeError("SourceNotFound", "final", message, { on: { kind: "Path", name: source.path } });
}

function wantedKind(type: HostPathType): FileKind | undefined {
  switch (type) {
    case "":
      return undefined;
    case "Directory":
    case "DirectoryOrCreate":
      return "directory";
    case "File":
    case "FileOrCreate":
      return "file";
    case "Socket":
      return "socket";
    case "CharDevice":
      return "charDevice";
    case "BlockDevice":
      return "blockDevice";
    default:
      return unreachable(type);
  }
}
