import type * as csi from "../../../hack/lib/csi/gen/csi.gen.ts";
import { type Call, type Handlers, Refusal } from "../lib/serve.ts";
import { isMultiNode, understood } from "./capabilities.ts";
import type { Devices } from "./devices.ts";
import { needVolume } from "./known-volume.ts";
import type { Storage } from "./storage.ts";

/** Key of the publish context: which attachment it belongs to. */
export const attachmentKey = "nodevolume.test/attachment";

/** Which nodes may have a volume: ControllerPublishVolume and its opposite. */
export function publishing(storage: Storage, devices: Devices): Handlers {
  return {
    async controllerPublishVolume(request: csi.ControllerPublishVolumeRequest, call: Call) {
      const { volumeId, nodeId, readonly: readOnly } = request;
      if (nodeId === "") throw new Refusal("INVALID_ARGUMENT", "node_id is missing");
      if (volumeId === "") throw new Refusal("INVALID_ARGUMENT", "volume_id is missing");
      const capability = understood(request.volumeCapability);
      needVolume(storage, volumeId);
      if (!storage.hasNode(nodeId)) throw new Refusal("NOT_FOUND", `there is no node ${nodeId}`);
      const all = storage.attachments(volumeId);
      const here = all.find((a) => a.nodeID === nodeId);
      if (here !== undefined && here.readOnly !== readOnly) {
        throw new Refusal("ALREADY_EXISTS", `it is published to ${nodeId} with readonly: ${here.readOnly}`);
      }
      const others = all.filter((a) => a.nodeID !== nodeId).map((a) => a.nodeID);
      if (others.length > 0 && !isMultiNode(capability)) {
        throw new Refusal("FAILED_PRECONDITION", `it is published to ${others.join(", ")}, and is for one node`);
      }
      const attach = () => storage.attach(volumeId, nodeId, readOnly);
      const made = here ?? (await call.effect("attached", { id: volumeId, node: nodeId }, attach));
      return { publishContext: new Map([[attachmentKey, made.attachment]]) };
    },

    async controllerUnpublishVolume({ volumeId, nodeId }: csi.ControllerUnpublishVolumeRequest, call: Call) {
      if (volumeId === "") throw new Refusal("INVALID_ARGUMENT", "volume_id is missing");
      for (const { nodeID } of storage.attachments(volumeId)) {
        if (nodeId !== "" && nodeID !== nodeId) continue;
        // Storage that takes a disk away does not ask whether it is in use; the history shall say so.
        const inUse = devices.of(storage.pathOn(nodeID, volumeId)) !== undefined;
        const detail = { id: volumeId, node: nodeID, inUse };
        await call.effect("detached", detail, () => storage.detach(volumeId, nodeID));
      }
      return {};
    },
  };
}
