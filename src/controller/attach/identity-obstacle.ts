import { podDriver } from "../../api/names.ts";
import type { GrantedCSIVolume } from "../../api/types.gen.ts";
import type { Intent } from "../model/projections.ts";
import type { WaitReason } from "../model/wait-reason.ts";
import type { VolumeFacts } from "./volume-facts.ts";

/**
 * PURE. What keeps a volume from being granted of which the driver acts as the pod that uses it (tokenRequests):
 * mounted once for many, all would use it with the rights of one (safety rule 17). Undefined if it publishes for each
 * pod by itself, as that, or does not act as any.
 */
export function identityObstacle(
  { tokenAudiences, audiencesOfPods, id }: Pick<VolumeFacts, "tokenAudiences" | "audiencesOfPods" | "id">,
  { spec }: Pick<Intent, "spec">,
  { nodeStageSecretRef }: Pick<GrantedCSIVolume, "nodeStageSecretRef">,
): WaitReason | undefined {
  if (tokenAudiences.length === 0) return undefined;
  const acts = `driver ${id.driver} acts as the pod that uses a volume (tokenRequests)`;
  const refuse = (why: string, name: string): WaitReason => {
    return { reason: "PerPodIdentity", message: `${acts}${why}`, on: { kind: "CSIDriver", name } };
  };
  if (spec.mounts.length > 0) {
    return refuse(", and a mount of a node is no pod's: take the mounts off the set, and use it in pods", id.driver);
  }
  if (nodeStageSecretRef !== undefined) {
    const instead = "name the claim under persistentVolumeClaim in the pod, so that kubelet mounts it";
    return refuse(
      `, and the volume is staged with a Secret (nodeStageSecretRef), for all pods alike: ${instead}`,
      id.driver,
    );
  }
  const lacking = tokenAudiences.filter((audience) => !audiencesOfPods.includes(audience));
  if (lacking.length === 0) return undefined;
  const which = lacking.map((audience) => JSON.stringify(audience)).join(", ");
  const remedy = `list it in tokenRequests of the CSIDriver ${podDriver} (config/components/pod-tokens)`;
  return refuse(`, and kubelet hands over no token of pods for the audience ${which}: ${remedy}`, podDriver);
}
