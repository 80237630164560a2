import type { PersistentVolumeClaimVolumeSource } from "../../api/types.gen.ts";
import type { PersistentVolumeCSI } from "../model/csi-translation.ts";
import type { Claim, ClaimObjects, PersistentVolume } from "../model/storage-objects.ts";
import type { WaitReason } from "../model/wait-reason.ts";

/** Why it is not known which volume is meant, or why it cannot be used. */
export interface UnresolvedVolume {
  readonly waiting: WaitReason;
  /** The claim waits for somebody to choose its node. */
  readonly needsNode?: Claim;
}

/** A claim that is bound, with its PersistentVolume of a CSI driver. */
export interface BoundClaim {
  readonly claim: Claim;
  readonly persistentVolume: PersistentVolume;
  readonly csi: PersistentVolumeCSI;
}

/**
 * Provisions nothing: its PersistentVolumes are made by hand, and who binds one chooses among them (safety rule 21).
 */
const noProvisioner = "kubernetes.io/no-provisioner";

/**
 * The PersistentVolume of a claim, if the binding holds both ways, by UID; else what keeps the claim from being used,
 * as the claim itself says it. Pure.
 */
export function resolveClaim(
  { namespace, claimName }: Pick<PersistentVolumeClaimVolumeSource, "namespace" | "claimName">,
  objects: ClaimObjects,
): BoundClaim | UnresolvedVolume {
  const claim = objects.claim(namespace, claimName);
  const on = { kind: "PersistentVolumeClaim", namespace, name: claimName };
  const it = `claim ${namespace}/${claimName}`;
  if (claim === undefined) return { waiting: { reason: "ClaimNotFound", message: `there is no ${it}`, on } };
  if (claim.metadata.deletionTimestamp !== undefined) {
    return { waiting: { reason: "ClaimDeleting", message: `${it} is being deleted`, on } };
  }
  if (claim.phase === "Lost") {
    return {
      waiting: { reason: "ClaimLost", message: `${it} is Lost: its PersistentVolume ${claim.volumeName} is gone`, on },
    };
  }
  if (claim.phase !== "Bound" || claim.volumeName === "") return notBound(claim, objects);
  const persistentVolume = objects.persistentVolume(claim.volumeName);
  const onVolume = { kind: "PersistentVolume", name: claim.volumeName };
  if (persistentVolume === undefined) {
    const message = `${it} is bound to PersistentVolume ${claim.volumeName}, which is not there`;
    return { waiting: { reason: "PersistentVolumeNotFound", message, on: onVolume } };
  }
  const { claimRef, csi } = persistentVolume;
  const isBack =
    claimRef?.namespace === namespace && claimRef.name === claimName && claimRef.uid === claim.metadata.uid;
  if (!isBack) {
    const back = claimRef === undefined ? "no claim" : `claim ${claimRef.namespace}/${claimRef.name} (${claimRef.uid})`;
    const message = `${it} (${claim.metadata.uid}) names PersistentVolume ${claim.volumeName}, which names ${back}`;
    return { waiting: { reason: "ClaimMismatch", message, on: onVolume } };
  }
  if (persistentVolume.metadata.deletionTimestamp !== undefined) {
    const message = `PersistentVolume ${claim.volumeName} is being deleted`;
    return { waiting: { reason: "ClaimDeleting", message, on: onVolume } };
  }
  if (csi === undefined) {
    const message = `PersistentVolume ${claim.volumeName} ${persistentVolume.unusable}`;
    return { waiting: { reason: "VolumeSourceUnsupported", message, on: onVolume } };
  }
  return { claim, persistentVolume, csi };
}

/** Not bound yet: who is to bind it, and whether its node is to be chosen first. */
function notBound(claim: Claim, objects: ClaimObjects): UnresolvedVolume {
  const { namespace = "", name } = claim.metadata;
  const it = `claim ${namespace}/${name}`;
  const on = { kind: "PersistentVolumeClaim", namespace, name };
  const storageClass = objects.storageClass(claim.storageClassName);
  const phase = claim.phase === "" ? "Pending" : claim.phase;
  if (storageClass?.waitForFirstConsumer !== true || claim.volumeName !== "") {
    const missing = claim.storageClassName !== "" && storageClass === undefined;
    const why = missing ? `; there is no StorageClass ${claim.storageClassName}` : "";
    return { waiting: { reason: "ClaimNotBound", message: `${it} is ${phase}, not Bound${why}`, on } };
  }
  if (storageClass.provisioner === noProvisioner) {
    const message = `${it} waits for its first consumer, and StorageClass ${claim.storageClassName} has PersistentVolumes made by hand, among which the scheduler chooses: bind it by spec.volumeName`;
    return { waiting: { reason: "NeedsScheduler", message, on } };
  }
  const message = `${it} is ${phase}: it waits for its first consumer`;
  return { waiting: { reason: "ClaimNotBound", message, on }, needsNode: claim };
}
