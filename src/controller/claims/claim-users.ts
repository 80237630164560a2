import type { KubeObject } from "../../api/meta.ts";
import { resource } from "../../api/names.ts";
import type { KubeClient } from "../../kube/client/client.ts";
import { arrayIn, recordIn, stringIn } from "../../kube/json.ts";
import { notEnded } from "../model/pod-entry.ts";
import type { Claim } from "../model/storage-objects.ts";
import type { WaitReason } from "../model/wait-reason.ts";

/**
 * Of the pods that name a claim, which can only be of its own namespace, scheduled or not, as the server has them now:
 * the first, as a reason to wait.
 */
export async function usedByPods(client: KubeClient, { metadata }: Claim): Promise<WaitReason | undefined> {
  const { namespace = "", name } = metadata;
  const { items } = await client.list(resource.pods, { namespace, fieldSelector: notEnded });
  const users = items.filter((pod) => names(pod, name));
  const [first] = users;
  if (first === undefined) return undefined;
  const node = stringIn(recordIn(first, "spec"), "nodeName") ?? "";
  const others = users.length > 1 ? ` and ${users.length - 1} more` : "";
  const where = node === "" ? "not scheduled yet" : `on node ${node}`;
  const message = `claim ${namespace}/${name} is used by pod ${first.metadata.name} (${where})${others}`;
  const on = { kind: "Pod", namespace, name: first.metadata.name, ...(node !== "" && { node }) };
  return { reason: "UsedByPods", message, on };
}

/**
 * Whether a pod names the claim: itself, or by a generic ephemeral volume, whose claim has the pod's name and its own.
 * Whose the claim is by its ownerReferences does not count here: who sets them could make it the pod's the moment
 * after.
 */
function names(pod: KubeObject, claim: string): boolean {
  const phase = stringIn(recordIn(pod, "status"), "phase");
  if (phase === "Succeeded" || phase === "Failed") return false;
  return arrayIn(recordIn(pod, "spec"), "volumes").some((volume) => {
    if (stringIn(recordIn(volume, "persistentVolumeClaim"), "claimName") === claim) return true;
    return recordIn(volume, "ephemeral") !== undefined && `${pod.metadata.name}-${stringIn(volume, "name")}` === claim;
  });
}
