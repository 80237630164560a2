import { statfsSync } from "node:fs";
import type * as csi from "../../../src/csi/gen/csi.gen.ts";
import {
  NodeServiceCapability_RPC_Type as Capability,
  VolumeUsage_Unit as Unit,
} from "../../../src/csi/gen/csi.gen.ts";
import { type Call, type Handlers, Refusal } from "../lib/serve.ts";
import { fits } from "./capabilities.ts";
import type { Devices } from "./devices.ts";
import { growFileSystem } from "./file-system.ts";
import type { Flags } from "./flags.ts";
import { needPath, needVolume } from "./known-volume.ts";
import { oneAtATime } from "./one-at-a-time.ts";
import { staging } from "./staging.ts";
import type { Storage } from "./storage.ts";
import { targets } from "./targets.ts";
import { VolumeHere } from "./volume-here.ts";

export function node(storage: Storage, devices: Devices, flags: Flags): Handlers {
  const exclusively = oneAtATime();
  const here = (id: string) => new VolumeHere(id, storage, devices, flags);
  const rpcs = [
    Capability.GET_VOLUME_STATS,
    Capability.EXPAND_VOLUME,
    Capability.SINGLE_NODE_MULTI_WRITER,
    ...(flags.mountGroup ? [Capability.VOLUME_MOUNT_GROUP] : []),
    ...(flags.stage ? [Capability.STAGE_UNSTAGE_VOLUME] : []),
  ];
  return {
    nodeGetCapabilities: () => ({ capabilities: rpcs.map((type) => ({ rpc: { type } })) }),
    nodeGetInfo: () => ({
      nodeId: flags.nodeID,
      maxVolumesPerNode: String(flags.maxVolumes),
      accessibleTopology: undefined,
    }),
    ...(flags.stage ? staging(storage, flags, here, exclusively) : {}),
    ...targets(storage, flags, here, exclusively),

    nodeGetVolumeStats({ volumeId, volumePath }: csi.NodeGetVolumeStatsRequest) {
      needPath("volume_path", volumePath);
      needVolume(storage, volumeId);
      const volume = here(volumeId);
      const { device } = volume;
      const mount = volume.mountAt(volumePath);
      if (device === undefined || mount === undefined) throw new Refusal("NOT_FOUND", `it is not at ${volumePath}`);
      if (mount.number !== device.number) {
        return { usage: [usage(Unit.BYTES, devices.size(device), 0)] };
      }
      const { bsize, blocks, bavail, files, ffree } = statfsSync(volumePath);
      return { usage: [usage(Unit.BYTES, blocks * bsize, bavail * bsize), usage(Unit.INODES, files, ffree)] };
    },

    nodeExpandVolume({ volumeId, volumePath, capacityRange }: csi.NodeExpandVolumeRequest, call: Call) {
      needPath("volume_path", volumePath);
      needVolume(storage, volumeId);
      return exclusively(volumeId, async () => {
        const volume = here(volumeId);
        const { device } = volume;
        const mount = volume.mounts().find(({ number }) => number === device?.number);
        if (device === undefined) throw new Refusal("NOT_FOUND", `it is not at ${volumePath}`);
        if (!fits(storage.size(volumeId), capacityRange)) {
          throw new Refusal("OUT_OF_RANGE", `it has ${storage.size(volumeId)} bytes`);
        }
        const bytes = await call.effect("grown", { id: volumeId }, async () => {
          const size = await devices.grow(device);
          if (mount !== undefined) await growFileSystem(mount.path, flags);
          return size;
        });
        return { capacityBytes: String(bytes) };
      });
    },
  };
}

function usage(unit: csi.VolumeUsage_Unit, total: number, available: number): csi.VolumeUsage {
  return { unit, total: String(total), available: String(available), used: String(total - available) };
}
