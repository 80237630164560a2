import { podDriver } from "../../api/names.ts";
import { type BadAttribute, type PodVolumeRequest, podVolumeRequest } from "../../api/pod-attributes.ts";
import { recordIn, stringIn } from "../../kube/json.ts";

/** A volume of the driver csi.nodevolume.dev in a pod, as its owner wrote it. */
export interface PodVolume {
  /** Name of the volume in the pod. */
  readonly name: string;
  /** The requested volume, or the error in the request. */
  readonly request: PodVolumeRequest | BadAttribute;
}

/** @returns undefined for a volume that is not ours. Pure. */
export function podVolume(volume: unknown): PodVolume | undefined {
  const csi = recordIn(volume, "csi");
  const name = stringIn(volume, "name");
  if (name === undefined || stringIn(csi, "driver") !== podDriver) return undefined;
  const attributes = Object.entries(recordIn(csi, "volumeAttributes") ?? {});
  const texts = attributes.flatMap(([key, value]) => (typeof value === "string" ? [[key, value] as const] : []));
  return { name, request: podVolumeRequest(new Map(texts), csi?.["readOnly"] === true) };
}

/**
 * The claim that a volume asks for, which can only be of the pod's own namespace; undefined if it asks for a set, or
 * cannot be understood.
 */
export function claimOf({ request }: PodVolume): string | undefined {
  return "wants" in request && "persistentVolumeClaim" in request.wants
    ? request.wants.persistentVolumeClaim
    : undefined;
}

/** PURE. Whether a volume of the pod names a claim. */
export function namesClaim({ volumes }: { readonly volumes: readonly PodVolume[] }): boolean {
  return volumes.some((volume) => claimOf(volume) !== undefined);
}

/** The set that a volume asks for; undefined if it asks for a claim, or cannot be understood. */
export function setOf({ request }: PodVolume): string | undefined {
  return "wants" in request && "set" in request.wants ? request.wants.set : undefined;
}
