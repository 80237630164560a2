import { podDriver } from "../../api/names.ts";
import { type Facts, named, type Raw } from "../../explain/facts.ts";
import type { Finding } from "../../explain/finding.ts";
import { reasonFinding } from "../../explain/intent-chain.ts";
import { arrayIn, isRecord, type JsonObject, recordIn, stringIn } from "../../kube/json.ts";
import { controllerOf } from "../../kube/objects/controller-of.ts";

/** A volume of a pod, as far as anything can keep it from being mounted. */
export type PodVolume =
  | { readonly kind: "claim"; readonly name: string; readonly claim: string; readonly ephemeral: boolean }
  | { readonly kind: "ours"; readonly name: string; readonly set?: string; readonly claim?: string }
  | { readonly kind: "inline"; readonly name: string; readonly driver: string }
  | { readonly kind: "other"; readonly name: string; readonly type: string };

/** PURE. The volumes that a pod's containers use; others are never mounted (behaviour 25). */
export function volumesOf(pod: Raw): PodVolume[] {
  const spec = recordIn(pod, "spec");
  const containers = ["containers", "initContainers"].flatMap((list) => arrayIn(spec, list));
  const used = new Set(
    containers.flatMap((container) => [
      ...arrayIn(container, "volumeMounts").map((mount) => stringIn(mount, "name")),
      ...arrayIn(container, "volumeDevices").map((device) => stringIn(device, "name")),
    ]),
  );
  return arrayIn(spec, "volumes")
    .filter((volume): volume is JsonObject => isRecord(volume) && used.has(stringIn(volume, "name")))
    .map((volume) => podVolume(pod, volume));
}

function podVolume(pod: Raw, volume: JsonObject): PodVolume {
  const name = stringIn(volume, "name") ?? "";
  const claim = stringIn(recordIn(volume, "persistentVolumeClaim"), "claimName");
  if (claim !== undefined) return { kind: "claim", name, claim, ephemeral: false };
  // A generic ephemeral volume is a claim named after pod and volume.
  if (volume["ephemeral"] !== undefined)
    return { kind: "claim", name, claim: `${pod.metadata.name}-${name}`, ephemeral: true };
  const csi = recordIn(volume, "csi");
  if (csi === undefined) return { kind: "other", name, type: Object.keys(volume).find((key) => key !== "name") ?? "" };
  const driver = stringIn(csi, "driver") ?? "";
  if (driver !== podDriver) return { kind: "inline", name, driver };
  const attributes = recordIn(csi, "volumeAttributes");
  const set = stringIn(attributes, "set");
  const ofClaim = stringIn(attributes, "persistentVolumeClaim");
  return { kind: "ours", name, ...(set !== undefined && { set }), ...(ofClaim !== undefined && { claim: ofClaim }) };
}

/** PURE. */
export function nodeOf(pod: Raw): string | undefined {
  const name = stringIn(recordIn(pod, "spec"), "nodeName");
  return name === "" ? undefined : name;
}

/** PURE. */
export function phaseOf(pod: Raw): string {
  return stringIn(recordIn(pod, "status"), "phase") ?? "Pending";
}

/** PURE. */
export function hasEnded(pod: Raw): boolean {
  return ["Succeeded", "Failed"].includes(phaseOf(pod));
}

/** PURE. Whether its containers run or have run: kubelet starts none before all volumes are mounted (behaviour 47). */
export function hasStarted(pod: Raw): boolean {
  const status = recordIn(pod, "status");
  const all = ["containerStatuses", "initContainerStatuses"].flatMap((list) => arrayIn(status, list));
  return all.some((container) => {
    const state = recordIn(container, "state");
    return state?.["running"] !== undefined || state?.["terminated"] !== undefined;
  });
}

/** PURE. Pods that have not ended and use the claim, on one node or on any. */
export function podsOf(facts: Facts, namespace: string, claim: string, node?: string): Raw[] {
  return facts.pods.filter((pod) => {
    if (pod.metadata.namespace !== namespace || hasEnded(pod)) return false;
    if (node !== undefined && nodeOf(pod) !== node) return false;
    return volumesOf(pod).some(
      (volume) => volume.kind === "claim" && volume.claim === claim && ownerProblem(facts, pod, volume).length === 0,
    );
  });
}

/** PURE. A generic ephemeral volume has the claim of its name only if that is the pod's own (behaviour 26). */
export function ownerProblem(
  facts: Facts,
  pod: Raw,
  { claim, ephemeral }: { readonly claim: string; readonly ephemeral: boolean },
): Finding[] {
  const { namespace = "", uid } = pod.metadata;
  const found = ephemeral ? named(facts.claims, claim, namespace) : undefined;
  if (found === undefined || controllerOf(found) === uid) return [];
  const owners = arrayIn(recordIn(found, "metadata"), "ownerReferences");
  const owner = owners.find((one) => stringIn(one, "uid") === controllerOf(found));
  const whose =
    owner === undefined
      ? "nothing controls it"
      : `${stringIn(owner, "kind")} ${stringIn(owner, "name")} (UID ${stringIn(owner, "uid")}) does`;
  const text = `claim ${namespace}/${claim} is not the pod's: by its ownerReferences the pod (UID ${uid}) must control it, and ${whose}`;
  return [reasonFinding("ClaimOfOther", text)];
}
