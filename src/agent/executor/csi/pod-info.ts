import type { PodIdentity } from "../../../csi/client/pod-tokens.ts";
import { tokensKey } from "../../../csi/client/secrets-of.ts";
import type { CSIVolume } from "../../../plugins/api/volume-plugin.ts";
import type { PodOfTarget } from "../../model/volume-record.ts";

const prefix = "csi.storage.k8s.io/";

/** The pod that a driver is called as. */
export interface ActingPod {
  readonly pod: PodOfTarget;
  readonly identity: PodIdentity;
}

/**
 * PURE. The volume context of NodePublishVolume: that of NodeStageVolume, plus pod info if the driver requires it
 * (behaviour 105; kubelet: pkg/volume/csi/csi_util.go, getPodInfoAttrs). A mount of a node has no pod, and none is made
 * up: only the key that marks the volume as persistent is added (decision 0027). Attributes of the volume cannot fake a
 * pod either, although the author of a set chooses them: keys that kubelet overwrites are left out, and so are tokens,
 * because a driver would take them for kubelet's.
 * @param acting if the driver acts as the pod: its identity, and its tokens here or among the secrets
 */
export function volumeContextFor(
  volume: Pick<CSIVolume, "volumeContext" | "podInfoOnMount" | "tokensInSecrets">,
  acting?: ActingPod,
): ReadonlyMap<string, string> {
  const { volumeContext, podInfoOnMount, tokensInSecrets } = volume;
  const own = [...volumeContext].filter(([key]) => key !== tokensKey && !(podInfoOnMount && namesAPod(key)));
  const info = podInfoOnMount ? [[`${prefix}ephemeral`, "false"] as const, ...(acting ? infoOf(acting) : [])] : [];
  const tokens = acting && !tokensInSecrets ? [[tokensKey, acting.identity.tokens.reveal()] as const] : [];
  return new Map([...own, ...info, ...tokens]);
}

function infoOf({ pod, identity }: ActingPod) {
  return [
    [`${prefix}pod.name`, pod.name],
    [`${prefix}pod.namespace`, pod.namespace],
    [`${prefix}pod.uid`, pod.uid],
    [`${prefix}serviceAccount.name`, identity.serviceAccount],
  ] as const;
}

function namesAPod(key: string): boolean {
  return key.startsWith(`${prefix}pod.`) || key.startsWith(`${prefix}serviceAccount.`);
}
