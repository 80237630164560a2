import type { NodeCapabilities, PublishRequest } from "../../csi/ports.ts";
import type { CSIVolume } from "../../plugins/plugin.ts";
import { type ActionContext, recordOf } from "../actions/context.ts";
import type { Published } from "../record.ts";
import { capabilityOf } from "./capability.ts";
import { csiStageOf } from "./driver-call.ts";
import { volumeContextFor } from "./pod-info.ts";

/** What NodePublishVolume is called with: by the grant and the record, and the Secret as it is now. @throws VolumeError of the Secret */
export async function publishRequest(
  context: ActionContext,
  volume: CSIVolume,
  of: { readonly name: string; readonly capabilities: NodeCapabilities; readonly published: Published },
): Promise<PublishRequest> {
  const { capabilities, published } = of;
  const { publish: secret } = volume.secrets;
  const secrets = secret === undefined ? new Map() : await context.csi.secret(secret);
  const { path: stagingPath, csi } = csiStageOf(recordOf(context, of.name));
  return {
    volumeID: volume.volumeHandle,
    publishContext: volume.publishContext,
    targetPath: published.path,
    ...(capabilities.stageUnstage && { stagingPath }),
    capability: capabilityOf(volume, capabilities, csi),
    readOnly: published.readOnly,
    secrets,
    volumeContext: volumeContextFor(volume),
  };
}
