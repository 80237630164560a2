import type * as csi from "../../../src/csi/gen/csi.gen.ts";
import { type Call, type Handlers, Refusal } from "../lib/serve.ts";
import { understood } from "./capabilities.ts";
import type { Flags } from "./flags.ts";
import { needPath, needVolume } from "./known-volume.ts";
import type { Exclusively } from "./one-at-a-time.ts";
import type { Storage } from "./storage.ts";
import { useOf } from "./use.ts";
import type { VolumeHere } from "./volume-here.ts";

/** NodeStageVolume and its opposite. */
export function staging(
  storage: Storage,
  flags: Flags,
  here: (id: string) => VolumeHere,
  exclusively: Exclusively,
): Handlers {
  return {
    nodeStageVolume(request: csi.NodeStageVolumeRequest, call: Call) {
      const { volumeId, stagingTargetPath: path } = request;
      const capability = understood(request.volumeCapability);
      needPath("staging_target_path", path);
      needVolume(storage, volumeId);
      const { readOnly } = useOf(storage, flags, request);
      return exclusively(volumeId, async () => {
        const volume = here(volumeId);
        const isStaged = capability.block ? volume.device !== undefined : volume.mountAt(path) !== undefined;
        if (isStaged) return {};
        await call.effect("staged", { id: volumeId, path, block: capability.block !== undefined }, async () => {
          if (capability.block) await volume.attachDevice(readOnly);
          else await volume.mountFileSystem(path, capability, call);
        });
        return {};
      });
    },

    nodeUnstageVolume({ volumeId, stagingTargetPath: path }: csi.NodeUnstageVolumeRequest, call: Call) {
      if (volumeId === "") throw new Refusal("INVALID_ARGUMENT", "volume_id is missing");
      needPath("staging_target_path", path);
      return exclusively(volumeId, async () => {
        const volume = here(volumeId);
        if (volume.device === undefined) return {};
        const left = volume.mounts().filter((mount) => mount.path !== path);
        if (left.length > 0) throw new Refusal("FAILED_PRECONDITION", `it is published at ${left[0]?.path}`);
        await call.effect("unstaged", { id: volumeId, path }, async () => {
          await volume.unmount(path);
          await volume.detachDevice();
        });
        return {};
      });
    },
  };
}
