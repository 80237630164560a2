import type { EmptyDirVolumeSource } from "../../api/types.gen.ts";
import { quantityBytes } from "../../api/values/quantity.ts";
import { type StageContext, type Staged, type StagingPlugin, sourceOf, type VolumeSpec } from "../api/volume-plugin.ts";
import { memoryFilesystem, memorySource, stageDirectory, stageFilesystem } from "../staging.ts";

type Medium = NonNullable<EmptyDirVolumeSource["medium"]>;

/** Bytes of a huge page, where the medium names them, and how mount options name that size. */
const hugePages: { readonly [M in Medium]?: { readonly bytes: bigint; readonly pageSize: string } } = {
  "HugePages-2Mi": { bytes: 1n << 21n, pageSize: "2M" },
  "HugePages-1Gi": { bytes: 1n << 30n, pageSize: "1G" },
};

/**
 * A directory of the node's own, empty at first. On disk it is a directory (0777) beneath the state directory, limited
 * by a project quota, in memory a tmpfs, in huge pages a hugetlbfs. All are gone with the volume. (kubelet:
 * pkg/volume/emptydir, which gives a hugetlbfs no size)
 */
export const emptyDir: StagingPlugin = {
  type: "emptyDir",

  layout(spec) {
    const fsType = fsTypeOf(spec);
    return {
      options: options(spec),
      readOnly: false,
      devices: false,
      group: "walk",
      ...(fsType !== undefined && { filesystem: memoryFilesystem(spec, fsType) }),
    };
  },

  async stage(spec, context) {
    const fsType = fsTypeOf(spec);
    if (fsType === undefined) return stageOnDisk(spec, context);
    return stageFilesystem(context, { fsType, source: memorySource(spec), options: options(spec) });
  },
};

/** The limit is there before anybody can write. */
async function stageOnDisk(spec: VolumeSpec, context: StageContext): Promise<Staged> {
  const staged = await stageDirectory(context, 0o777);
  const { sizeLimit } = sourceOf(spec, "emptyDir");
  if (sizeLimit !== undefined) await context.directories.limit(staged.path, quantityBytes(sizeLimit));
  return staged;
}

/** The file system that it is in memory; undefined on disk. */
function fsTypeOf(spec: VolumeSpec): "tmpfs" | "hugetlbfs" | undefined {
  const { medium = "" } = sourceOf(spec, "emptyDir");
  if (medium === "") return undefined;
  return medium === "Memory" ? "tmpfs" : "hugetlbfs";
}

function options(spec: VolumeSpec): string[] {
  const { medium = "", sizeLimit } = sourceOf(spec, "emptyDir");
  if (medium === "") return [];
  const pages = hugePages[medium];
  const size = sizeLimit === undefined ? undefined : rounded(quantityBytes(sizeLimit), pages?.bytes ?? 1n);
  return [
    "mode=0777",
    ...(pages === undefined ? [] : [`pagesize=${pages.pageSize}`]),
    ...(size === undefined ? [] : [`size=${size}`]),
  ];
}

/** To whole pages: the kernel would take off what is more than them. */
function rounded(bytes: bigint, page: bigint): bigint {
  return ((bytes + page - 1n) / page) * page;
}
