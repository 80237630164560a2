import type { CephFSVolumeSource } from "../../api/types.gen.ts";
import { secretContent } from "../api/content.ts";
import type { DetachablePlugin } from "../api/teardown.ts";
import { sourceOf } from "../api/volume-plugin.ts";
import { cephFuseSource, cephFuseType, stageByCephFuse } from "./cephfs-fuse.ts";
import { kernelSource, stageByKernel } from "./cephfs-kernel.ts";
import { endClient } from "./fuse-client.ts";

/**
 * A directory of a CephFS, mounted once on the node: by a ceph-fuse(8) of its own, or by the kernel's client, as the
 * source says. (kubelet: pkg/volume/cephfs, until 1.30, which took ceph-fuse and, where that failed, the kernel's)
 */
export const cephfs: DetachablePlugin = {
  type: "cephfs",

  layout(spec) {
    const source = sourceOf(spec, "cephfs");
    const common = {
      readOnly: source.readOnly === true,
      devices: false,
      content: [secretContent(source.secretRef)],
      credentials: true,
    };
    if (!isByKernel(source)) {
      const filesystem = { types: [cephFuseType], source: cephFuseSource(source), own: false };
      return { ...common, options: spec.mountOptions, filesystem };
    }
    const filesystem = { types: ["ceph"], source: kernelSource(source, spec.mountOptions), own: false };
    return { ...common, options: spec.mountOptions, fixedOptions: true, filesystem };
  },

  stage(spec, context) {
    const source = sourceOf(spec, "cephfs");
    return isByKernel(source) ? stageByKernel(source, spec.mountOptions, context) : stageByCephFuse(source, context);
  },

  detach: endClient,
};

function isByKernel({ client = "FUSE" }: CephFSVolumeSource): boolean {
  return client === "Kernel";
}
