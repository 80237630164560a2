import { closeSync, existsSync, mkdirSync, openSync, rmdirSync, statSync, unlinkSync } from "node:fs";
import type * as csi from "../../../src/csi/gen/csi.gen.ts";
import { type Call, type Handlers, Refusal } from "../lib/serve.ts";
import { isReader, isSingleWriter, understood } from "./capabilities.ts";
import type { Flags } from "./flags.ts";
import { needPath, needVolume } from "./known-volume.ts";
import { bind, makeReadOnly } from "./mounts.ts";
import type { Exclusively } from "./one-at-a-time.ts";
import type { Storage } from "./storage.ts";
import { useOf } from "./use.ts";
import type { VolumeHere } from "./volume-here.ts";

/** NodePublishVolume and its opposite. */
export function targets(
  storage: Storage,
  flags: Flags,
  here: (id: string) => VolumeHere,
  exclusively: Exclusively,
): Handlers {
  return {
    nodePublishVolume(request: csi.NodePublishVolumeRequest, call: Call) {
      const { volumeId, targetPath, stagingTargetPath } = request;
      const capability = understood(request.volumeCapability);
      needPath("target_path", targetPath);
      if (flags.stage) needPath("staging_target_path", stagingTargetPath);
      needVolume(storage, volumeId);
      const use = useOf(storage, flags, request);
      const readOnly = request.readonly || use.readOnly || isReader(capability);
      return exclusively(volumeId, async () => {
        const volume = here(volumeId);
        const known = volume.mountAt(targetPath);
        if (known !== undefined && known.readOnly !== readOnly) {
          throw new Refusal("ALREADY_EXISTS", `it is at ${targetPath} with readonly: ${known.readOnly}`);
        }
        if (known !== undefined) return {};
        const elsewhere = volume.mounts().find(({ path }) => path !== stagingTargetPath);
        if (elsewhere !== undefined && isSingleWriter(capability)) {
          throw new Refusal("FAILED_PRECONDITION", `it is for one target, and at ${elsewhere.path}`);
        }
        const detail = { id: volumeId, path: targetPath, readOnly, block: capability.block !== undefined };
        await call.effect("published", detail, async () => {
          if (capability.block) await publishBlock(volume, use.readOnly, request);
          else if (flags.stage) await publishStaged(volume, request);
          else await volume.mountFileSystem(targetPath, capability, call);
          if (readOnly) await makeReadOnly(targetPath);
        });
        return {};
      });
    },

    nodeUnpublishVolume({ volumeId, targetPath }: csi.NodeUnpublishVolumeRequest, call: Call) {
      if (volumeId === "") throw new Refusal("INVALID_ARGUMENT", "volume_id is missing");
      needPath("target_path", targetPath);
      return exclusively(volumeId, async () => {
        const volume = here(volumeId);
        if (volume.mountAt(targetPath) === undefined) {
          removeTarget(targetPath);
          return {};
        }
        await call.effect("unpublished", { id: volumeId, path: targetPath }, async () => {
          await volume.unmount(targetPath);
          removeTarget(targetPath);
        });
        if (!flags.stage && volume.mounts().length === 0) await volume.detachDevice();
        return {};
      });
    },
  };
}

async function publishStaged(volume: VolumeHere, request: csi.NodePublishVolumeRequest): Promise<void> {
  const { stagingTargetPath, targetPath } = request;
  if (volume.mountAt(stagingTargetPath) === undefined) {
    throw new Refusal("FAILED_PRECONDITION", `it is not staged at ${stagingTargetPath}`);
  }
  mkdirSync(targetPath, { recursive: true });
  await bind(stagingTargetPath, targetPath);
}

async function publishBlock(
  volume: VolumeHere,
  readOnly: boolean,
  request: csi.NodePublishVolumeRequest,
): Promise<void> {
  if (request.stagingTargetPath !== "" && volume.device === undefined) {
    throw new Refusal("FAILED_PRECONDITION", "it is not staged");
  }
  const device = await volume.attachDevice(readOnly);
  closeSync(openSync(request.targetPath, "a", 0o600));
  await bind(device.path, request.targetPath);
}

/** The target goes with the mount; one that is not empty was not made by us. */
function removeTarget(path: string): void {
  if (!existsSync(path)) return;
  if (statSync(path).isDirectory()) rmdirSync(path);
  else unlinkSync(path);
}
