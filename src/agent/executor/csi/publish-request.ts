import type { PodIdentity } from "../../../csi/client/pod-tokens.ts";
import { tokensKey } from "../../../csi/client/secrets-of.ts";
import type { NodeCapabilities, PublishRequest } from "../../../csi/ports.ts";
import type { CSIVolume } from "../../../plugins/api/volume-plugin.ts";
import { identityFor } from "../../content/pod-tokens.ts";
import type { VolumeName } from "../../model/identities.ts";
import type { Published, TargetRecord } from "../../model/volume-record.ts";
import { type ActionContext, recordOf } from "../operation-context.ts";
import { capabilityOf } from "./capability.ts";
import { csiStageOf } from "./driver-call.ts";
import { type ActingPod, volumeContextFor } from "./pod-info.ts";

/** A call of NodePublishVolume. */
export interface PublishCall {
  readonly request: PublishRequest;
  /** Who it is made as. */
  readonly identity?: PodIdentity;
}

/**
 * What NodePublishVolume is called with for a target: by the grant and the record, the Secret as it is now, and, where
 * the driver acts as the pod, what kubelet has handed over for this very target.
 * @throws VolumeError of the Secret, or without the pod's tokens
 */
export async function publishCall(
  context: ActionContext,
  volume: CSIVolume,
  of: {
    readonly name: VolumeName;
    readonly capabilities: NodeCapabilities;
    readonly target: Pick<TargetRecord, "path" | "pod">;
    readonly published: Published;
  },
): Promise<PublishCall> {
  const { capabilities, target, published } = of;
  const { publish: secret } = volume.secrets;
  const secrets = secret === undefined ? new Map<string, string>() : await context.csi.secret(secret);
  const { path: stagingPath, csi } = csiStageOf(recordOf(context, of.name));
  const identity = identityFor(context, volume, target);
  // Of what was kept for a grant of before, no more than this one names.
  const tokens = identity?.tokens.only(volume.tokenAudiences ?? []);
  const acting: ActingPod | undefined = identity &&
    tokens &&
    target.pod && { identity: { ...identity, tokens }, pod: target.pod };
  const request: PublishRequest = {
    volumeID: volume.volumeHandle,
    publishContext: volume.publishContext,
    targetPath: published.path,
    ...(capabilities.stageUnstage && { stagingPath }),
    capability: capabilityOf(volume, capabilities, csi),
    readOnly: published.readOnly,
    secrets: tokens && volume.tokensInSecrets ? new Map([...secrets, [tokensKey, tokens.reveal()]]) : secrets,
    volumeContext: volumeContextFor(volume, acting),
  };
  return { request, ...(identity && { identity }) };
}
