import type { NFSVolumeSource } from "../../api/types.gen.ts";
import type { StageContext, Staged, StagingPlugin, VolumeSpec } from "../api/volume-plugin.ts";
import { stageFilesystem } from "../staging.ts";

/** An NFS export, mounted once on the node by mount.nfs(8) in a disposable child. (kubelet: pkg/volume/nfs) */
export const nfs: StagingPlugin = {
  type: "nfs",

  layout: (spec) => ({
    options: spec.mountOptions,
    readOnly: sourceOf(spec).readOnly === true,
    devices: false,
    filesystem: { types: ["nfs", "nfs4"], source: exportOf(spec), own: false },
  }),

  async stage(spec: VolumeSpec, context: StageContext): Promise<Staged> {
    const mount = { fsType: "nfs", source: exportOf(spec), options: spec.mountOptions };
    return stageFilesystem(context, mount, sourceOf(spec).readOnly === true);
  },
};

function exportOf(spec: VolumeSpec): string {
  const { server, path } = sourceOf(spec);
  return `${server}:${path}`;
}

function sourceOf(spec: VolumeSpec): NFSVolumeSource {
  if (spec.source.nfs === undefined) throw new Error("not an nfs volume");
  return spec.source.nfs;
}
