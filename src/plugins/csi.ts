import type { NodeVolumeIntentSpec } from "../api/types.gen.ts";
import type { CSIVolume, VolumePlugin, VolumeSpec } from "./api/volume-plugin.ts";

/**
 * A volume of a CSI driver. Which one, the grant alone says: a claim may be bound to another by now. Without a grant
 * there is nothing to say of it, and nothing is done. The driver stages and publishes it, by the agent's own steps
 * (src/agent/executor/csi, decision 0026). (kubelet: pkg/volume/csi)
 */
function csiPlugin(type: "csi" | "persistentVolumeClaim"): VolumePlugin {
  return {
    type,
    layout(spec) {
      const csi = volumeOf(spec);
      return {
        options: csi?.mountFlags ?? [],
        readOnly: csi?.readOnly === true || spec.source[type]?.readOnly === true,
        devices: spec.volumeMode === "Block",
        ...(csi && { csi }),
      };
    },
  };
}

/** Volumes of CSI drivers by their volume handle. */
export const csi = csiPlugin("csi");
/** Volumes of CSI drivers by a claim: the grant names the volume. */
export const persistentVolumeClaim = csiPlugin("persistentVolumeClaim");

/** Whether a grant must say which volume it is, because the source does not. */
export function needsGrantedVolume({ source }: Pick<NodeVolumeIntentSpec, "source">): boolean {
  return source.csi !== undefined || source.persistentVolumeClaim !== undefined;
}

/** PURE. Audiences of the tokens that the driver needs to act as the pod; undefined if it acts as nobody. */
export function tokenAudiencesOf(grant: NodeVolumeIntentSpec["grant"]): readonly string[] | undefined {
  const audiences = grant?.csi?.tokenAudiences ?? [];
  return audiences.length === 0 ? undefined : audiences;
}

function volumeOf({ grant, source, volumeMode, mountOptions }: VolumeSpec): CSIVolume | undefined {
  if (grant?.csi === undefined) return undefined;
  const { driver, volumeHandle, readOnly, fsType, accessMode, mountOptions: granted, volumeAttributes } = grant.csi;
  const { nodeStageSecretRef, nodePublishSecretRef, nodeExpandSecretRef } = grant.csi;
  const { requiresRepublish = false, podInfoOnMount = false } = grant.csi;
  const { supportsFSGroup, seLinuxMount, serviceAccountTokenInSecrets } = grant.csi;
  const tokenAudiences = tokenAudiencesOf(grant);
  const asked = source.csi?.readOnly === true || source.persistentVolumeClaim?.readOnly === true;
  return {
    driver,
    volumeHandle,
    readOnly: readOnly === true || asked,
    block: volumeMode === "Block",
    fsType: fsType ?? "",
    accessMode,
    attached: grant.volumeAttachment !== undefined,
    mountFlags: volumeMode === "Block" ? [] : [...(granted ?? []), ...mountOptions],
    volumeContext: new Map(Object.entries(volumeAttributes ?? {})),
    publishContext: new Map(Object.entries(grant.publishContext ?? {})),
    requiresRepublish,
    podInfoOnMount,
    ...(tokenAudiences !== undefined && { tokenAudiences }),
    tokensInSecrets: serviceAccountTokenInSecrets === true,
    ...(supportsFSGroup !== undefined && { supportsFSGroup }),
    seLinuxMount: seLinuxMount === true,
    secrets: {
      ...(nodeStageSecretRef && { stage: nodeStageSecretRef }),
      ...(nodePublishSecretRef && { publish: nodePublishSecretRef }),
      ...(nodeExpandSecretRef && { expand: nodeExpandSecretRef }),
    },
  };
}
