import { type StagingPlugin, sourceOf, type VolumeSpec } from "../api/volume-plugin.ts";
import { stageFilesystem } from "../staging.ts";

/** An NFS export, mounted once on the node by mount.nfs(8) in a disposable child. (kubelet: pkg/volume/nfs) */
export const nfs: StagingPlugin = {
  type: "nfs",

  layout: (spec) => ({
    options: spec.mountOptions,
    readOnly: sourceOf(spec, "nfs").readOnly === true,
    devices: false,
    filesystem: { types: ["nfs", "nfs4"], source: exportOf(spec), own: false },
  }),

  async stage(spec, context) {
    const mount = { fsType: "nfs", source: exportOf(spec), options: spec.mountOptions };
    return stageFilesystem(context, mount, sourceOf(spec, "nfs").readOnly === true);
  },
};

function exportOf(spec: VolumeSpec): string {
  const { server, path } = sourceOf(spec, "nfs");
  return `${server}:${path}`;
}
