import type * as csi from "../../../hack/lib/csi/gen/csi.gen.ts";
import { ControllerServiceCapability_RPC_Type as Capability } from "../../../hack/lib/csi/gen/csi.gen.ts";
import { type Call, type Handlers, Refusal } from "../lib/serve.ts";
import { fits, sizeFor, understood, unsupported } from "./capabilities.ts";
import type { Devices } from "./devices.ts";
import type { Flags } from "./flags.ts";
import { needVolume } from "./known-volume.ts";
import { publishing } from "./publishing.ts";
import { Storage } from "./storage.ts";

/** The part of a volume's context that the node checks: that it gets this volume's, and not another one's. */
export const contextKey = "nodevolume.test/volume";

export function controller(storage: Storage, devices: Devices, flags: Flags): Handlers {
  const rpcs = [
    Capability.CREATE_DELETE_VOLUME,
    Capability.LIST_VOLUMES,
    Capability.GET_CAPACITY,
    Capability.EXPAND_VOLUME,
    Capability.GET_VOLUME,
    Capability.SINGLE_NODE_MULTI_WRITER,
    ...(flags.attach ? [Capability.PUBLISH_UNPUBLISH_VOLUME, Capability.LIST_VOLUMES_PUBLISHED_NODES] : []),
  ];
  return {
    controllerGetCapabilities: () => ({ capabilities: rpcs.map((type) => ({ rpc: { type } })) }),
    ...(flags.attach ? publishing(storage, devices) : {}),

    async createVolume(
      { name, capacityRange, volumeCapabilities, volumeContentSource }: csi.CreateVolumeRequest,
      call: Call,
    ) {
      if (name === "") throw new Refusal("INVALID_ARGUMENT", "name is missing");
      if (volumeCapabilities.length === 0) throw new Refusal("INVALID_ARGUMENT", "volume_capabilities are missing");
      if (volumeContentSource !== undefined) throw new Refusal("INVALID_ARGUMENT", "a volume is made empty here");
      const block = volumeCapabilities.map(understood).some((capability) => capability.block !== undefined);
      const id = Storage.idOf(name);
      const known = storage.volume(id);
      if (known === undefined) {
        const bytes = sizeFor(capacityRange, storage.free());
        await call.effect("created", { id, bytes }, () => storage.create({ id, name, block }, bytes));
      } else if (!fits(storage.size(id), capacityRange) || known.block !== block) {
        throw new Refusal("ALREADY_EXISTS", `${name} is there with ${storage.size(id)} bytes, block: ${known.block}`);
      }
      return { volume: volumeOf(storage, id) };
    },

    async deleteVolume({ volumeId }: csi.DeleteVolumeRequest, call: Call) {
      if (volumeId === "") throw new Refusal("INVALID_ARGUMENT", "volume_id is missing");
      if (storage.volume(volumeId) === undefined) return {};
      const holders = storage.attachments(volumeId).map(({ nodeID }) => nodeID);
      if (holders.length > 0) throw new Refusal("FAILED_PRECONDITION", `it is published to ${holders.join(", ")}`);
      await call.effect("deleted", { id: volumeId }, () => storage.remove(volumeId));
      return {};
    },

    validateVolumeCapabilities(request: csi.ValidateVolumeCapabilitiesRequest) {
      needVolume(storage, request.volumeId);
      const wanted = request.volumeCapabilities;
      if (wanted.length === 0) throw new Refusal("INVALID_ARGUMENT", "volume_capabilities are missing");
      const problem = wanted.map(unsupported).find((p) => p !== undefined);
      if (problem !== undefined) return { confirmed: undefined, message: problem };
      const { volumeContext, parameters, mutableParameters } = request;
      return { confirmed: { volumeContext, volumeCapabilities: wanted, parameters, mutableParameters }, message: "" };
    },

    listVolumes({ maxEntries, startingToken }: csi.ListVolumesRequest) {
      const ids = storage.volumes();
      const start = startingToken === "" ? 0 : ids.indexOf(startingToken);
      if (start < 0) throw new Refusal("ABORTED", `${startingToken} is no token of a list`);
      const end = maxEntries > 0 ? start + maxEntries : ids.length;
      const entries = ids.slice(start, end).map((id) => entry(storage, id));
      return { entries, nextToken: ids[end] ?? "" };
    },

    controllerGetVolume({ volumeId }: csi.ControllerGetVolumeRequest) {
      needVolume(storage, volumeId);
      return entry(storage, volumeId);
    },

    getCapacity({ volumeCapabilities }: csi.GetCapacityRequest) {
      const possible = volumeCapabilities.every((capability) => unsupported(capability) === undefined);
      return { availableCapacity: possible ? String(storage.free()) : "0", maximumVolumeSize: undefined };
    },

    async controllerExpandVolume({ volumeId, capacityRange }: csi.ControllerExpandVolumeRequest, call: Call) {
      needVolume(storage, volumeId);
      if (capacityRange === undefined) throw new Refusal("INVALID_ARGUMENT", "capacity_range is missing");
      const bytes = sizeFor(capacityRange, storage.free());
      const before = storage.size(volumeId);
      if (bytes > before) {
        await call.effect("enlarged", { id: volumeId, bytes }, () => storage.resize(volumeId, bytes));
      }
      return { capacityBytes: String(Math.max(bytes, before)), nodeExpansionRequired: true };
    },
  };
}

function entry(storage: Storage, id: string) {
  return { volume: volumeOf(storage, id), status: { publishedNodeIds: storage.attachments(id).map((a) => a.nodeID) } };
}

function volumeOf(storage: Storage, id: string): csi.Volume {
  return {
    capacityBytes: String(storage.size(id)),
    volumeId: id,
    volumeContext: new Map([[contextKey, id]]),
    contentSource: undefined,
    accessibleTopology: [],
  };
}
